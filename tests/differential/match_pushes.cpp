// Match's pushes: fetched behind a PING, and compared once they are all there.
#include "tests/differential/match.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace redlock::differential {
namespace {

using protocol::Reply;

// A line of MONITOR without its moment and address.
std::string without_moment(std::string_view line) {
  const std::size_t begin = line.find(" [");
  const std::size_t end = line.find("] \"");
  if (begin == std::string_view::npos || end == std::string_view::npos) return std::string(line);
  const bool is_lua = line.substr(begin, end - begin).ends_with("lua");
  return fmt::format("{}{}", is_lua ? "[lua] " : "", line.substr(end + 2));
}

}  // namespace

void Match::send_fence(Client& to) {
  fence_ = fmt::format("fence-{}", ++fences_);
  send(to, {"PING", fence_});
}

Match::Pair Match::read_to_fence(Client& from) {
  Pair pair;
  for (const Side side : kSides) {
    for (;;) {
      Answer answer = from.links[side]->next();
      const auto& items = answer.reply.items();
      const bool is_fence =
          answer.reply.text() == fence_ || (items.size() == 2 && items[1].text() == fence_);
      if (is_fence) break;
      const bool is_end = !answer.is_reply();
      if (is_end) from.is_closed = true;
      pair.sides[side].push_back(std::move(answer));
      if (is_end) break;
    }
  }
  return pair;
}

void Match::fetch_pushed(Client& from) {
  send_fence(from);
  Pair pair = read_to_fence(from);
  for (const Side side : kSides) {
    for (Answer& answer : pair.sides[side]) from.pushed.sides[side].push_back(std::move(answer));
  }
}

std::optional<Difference> Match::drain(std::size_t at) {
  for (auto& [name, known] : clients_) {
    if (!known.may_be_pushed || !known.can_be_asked()) continue;
    fetch_pushed(known);
    if (auto found = compare_pushed(name, known, at)) return found;
  }
  return settle_expired(at);
}

std::optional<Difference> Match::compare_pushed(const std::string& name, Client& of,
                                                std::size_t at) {
  const Pair pushed = std::exchange(of.pushed, {});
  tell_pushed(name, pushed);
  if (is_same_list(of, pushed, false)) return std::nullopt;
  return difference(at, pushed.sides[kNode], pushed.sides[kRedis],
                    fmt::format("what client '{}' was pushed", name));
}

// SCAN takes away what is over, and says so.
void Match::look_at_all_keys() {
  Client& control = client(std::string(kControl));
  send(control, {"SCAN", "0", "COUNT", "1000000"});
  for (const Side side : kSides) control.links[side]->next();
}

std::optional<Difference> Match::settle_expired(std::size_t at) {
  const auto differs = [](const auto& named) {
    return named.second.expired[kNode] != named.second.expired[kRedis];
  };
  if (std::none_of(clients_.begin(), clients_.end(), differs)) return std::nullopt;
  look_at_all_keys();
  for (auto& [name, known] : clients_) {
    if (!known.may_be_pushed || !known.can_be_asked()) continue;
    fetch_pushed(known);
    if (auto found = compare_pushed(name, known, at)) return found;
    if (differs(std::pair<const std::string&, const Client&>(name, known))) {
      const auto texts = [&known](Side side) {
        return fmt::format("{}", fmt::join(known.expired[side], "  "));
      };
      return Difference{at, texts(kNode), texts(kRedis),
                        fmt::format("which locks ran out, as told to client '{}'", name)};
    }
    known.expired[kNode].clear();
    known.expired[kRedis].clear();
  }
  return std::nullopt;
}

// `expired` events are put aside: settle_expired() compares them.
bool Match::is_same_list(Client& of, const Pair& pair, bool is_unsubscribe) {
  std::vector<std::string> texts[2];
  for (const Side side : kSides) {
    std::vector<Reply> messages;
    for (const Answer& answer : pair.sides[side]) {
      if (answer.state == Answer::State::silent) return false;
      if (!answer.is_reply()) texts[side].push_back(answer.to_string());
      if (is_expired_event(answer.reply)) {
        of.expired[side].insert(answer.to_string());
        continue;
      }
      messages.push_back(answer.reply.owned());
    }
    order_messages(messages);
    for (const Reply& message : messages) {
      const bool is_line = message.is(Reply::Kind::status);
      const auto& items = message.items();
      if (is_line) {
        texts[side].push_back(without_moment(message.text()));
      } else if (is_unsubscribe && items.size() == 3) {  // the order of channels is nobody's
        texts[side].push_back(items[0].to_string() + items[2].to_string());
      } else {
        texts[side].push_back(message.to_string());
      }
    }
  }
  return texts[kNode] == texts[kRedis];
}

void Match::tell_pushed(const std::string& name, const Pair& pair) {
  if (transcript_ == nullptr) return;
  const std::string node = texts_of(pair.sides[kNode]);
  const std::string redis = texts_of(pair.sides[kRedis]);
  if (pair.sides[kNode].empty() && pair.sides[kRedis].empty()) return;
  const std::string who = name.empty() ? "the first client" : name;
  if (node == redis) {
    *transcript_ += fmt::format("# pushed to {}: {}\n", who, node);
  } else {
    *transcript_ += fmt::format("# pushed to {}:\nnode:  {}\nredis: {}\n", who, node, redis);
  }
}

}  // namespace redlock::differential
