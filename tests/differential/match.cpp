#include "tests/differential/match.h"

#include "base/text/words.h"
#include "protocol/resp/request_writer.h"
#include "tests/differential/acl_grammar.h"
#include "tests/differential/newer_commands.h"
#include "tests/differential/wanted_differences.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include <fmt/format.h>

namespace redlock::differential {
namespace {

using protocol::Reply;

constexpr std::size_t kBurstSteps = 64;
constexpr std::size_t kBurstBytes = 32 * 1024;

Duration since_epoch() {
  return std::chrono::system_clock::now().time_since_epoch();
}

bool is_one_of(const std::string& name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool subscribes(const Words& words) {
  return is_one_of(lower_case(words[0]), {"subscribe", "psubscribe", "ssubscribe", "unsubscribe",
                                          "punsubscribe", "sunsubscribe"});
}

bool is_scan(const Step& step) {
  return equals_ignoring_case(step.words[0], "SCAN") && step.words.size() > 1 &&
         step.words[1] == kToTheEnd;
}

bool is_named(const Step& step, std::string_view name) {
  return equals_ignoring_case(step.words[0], name);
}

// Of which it is not known how many replies it has, or that ends the connection.
bool stands_alone(const Step& step) {
  return step.is_bytes || is_scan(step) || subscribes(step.words) || is_named(step, "MONITOR") ||
         is_named(step, "QUIT") || is_named(step, "EXEC");
}

std::optional<std::string> reply_mode(const Words& words) {
  if (words.size() != 3 || !equals_ignoring_case(words[0], "CLIENT") ||
      !equals_ignoring_case(words[1], "REPLY")) {
    return std::nullopt;
  }
  return lower_case(words[2]);
}

std::size_t size_of(const Words& words) {
  std::size_t size = 0;
  for (const std::string& word : words) size += word.size() + 16;
  return size;
}

// Redis was sent a script instead of a newer command, and may name it where it refuses.
void speak_of(const Words& words, Answer& redis) {
  constexpr std::string_view kName = "'eval'";
  if (!redis.reply.is_error() || !in_words_of_redis_7_0(words)) return;
  const std::size_t at = redis.bytes.find(kName);
  if (at == std::string::npos) return;
  redis.bytes.replace(at, kName.size(), fmt::format("'{}'", lower_case(words[0])));
  redis.reply = Reply::error(redis.bytes.substr(1, redis.bytes.size() - 3));
}

}  // namespace

Match::Match(ServerProcess& node, ServerProcess& redis) : servers_{&node, &redis} {}

// --- before a sequence

Match::Client& Match::client(const std::string& name) {
  Client& found = clients_[name];
  if (found.is_closed || !found.links[kNode]) {
    found = Client{};
    for (const Side side : kSides) {
      found.links[side] = std::make_unique<Link>(servers_[side]->socket_path());
    }
  }
  return found;
}

bool Match::revive() {
  for (const Side side : kSides) {
    if (servers_[side]->is_running()) continue;
    clients_.clear();
    if (const Status started = servers_[side]->start_again(); !started) {
      failure_ = started.error().text;
      return false;
    }
  }
  return true;
}

// Empty servers, and clients as if they were new.
void Match::begin() {
  if (!revive()) return;
  for (auto& [name, known] : clients_) {
    if (known.is_closed) continue;
    send(known, {"RESET"});
    send_fence(known);
    read_to_fence(known);
    if (known.is_closed) continue;
    Client again;
    for (const Side side : kSides) again.links[side] = std::move(known.links[side]);
    known = std::move(again);
  }
  Client& control = client(std::string(kControl));
  Words deluser = {"ACL", "DELUSER"};
  deluser.insert(deluser.end(), AclGrammar::users().begin(), AclGrammar::users().end());
  for (const Words& words :
       {Words{"FLUSHALL"}, Words{"SCRIPT", "FLUSH"}, Words{"CLIENT", "UNPAUSE"},
        Words{"CONFIG", "SET", "notify-keyspace-events", ""}, deluser,
        Words{"ACL", "LOG", "RESET"}}) {
    send(control, words);
    for (const Side side : kSides) control.links[side]->next();
  }
}

// --- playing

std::optional<Difference> Match::play(const Sequence& sequence) {
  begin();
  slowest_ = Duration::zero();
  std::optional<Difference> found;
  for (std::size_t at = 0; at < sequence.size() && !found && failure_.empty();) {
    found = play_from(sequence, at);
  }
  return found;
}

std::optional<Difference> Match::play(const Sequence& sequence, std::string& transcript) {
  transcript_ = &transcript;
  auto found = play(sequence);
  transcript_ = nullptr;
  return found;
}

std::size_t Match::end_of_burst(const Sequence& sequence, std::size_t at) const {
  std::size_t end = at;
  std::size_t bytes = 0;
  while (end < sequence.size() && end - at < kBurstSteps && bytes < kBurstBytes) {
    const Step& step = sequence[end];
    if (step.client != sequence[at].client || (end > at && stands_alone(step))) break;
    bytes += size_of(step.words);
    ++end;
    if (step.wait > Duration::zero()) break;
  }
  return end;
}

std::optional<Difference> Match::play_from(const Sequence& sequence, std::size_t& at) {
  began_ = std::chrono::steady_clock::now();
  auto found = play_steps(sequence, at);
  slowest_ = std::max<Duration>(slowest_, std::chrono::steady_clock::now() - began_);
  if (found) return found;
  const Duration wait = sequence[at - 1].wait;
  if (wait == Duration::zero()) return drain(at - 1);
  std::this_thread::sleep_for(wait);  // pushes are looked at when what ended has been touched
  return std::nullopt;
}

// From `at` on, which ends behind what was played.
std::optional<Difference> Match::play_steps(const Sequence& sequence, std::size_t& at) {
  const std::size_t first = at++;
  const Step& step = sequence[first];
  ++calls_[lower_case(step.words[0])];
  if (step.is_bytes) return play_bytes(step, first);
  const Client& player = client(step.client);
  // Pushes that look like answers: lines of MONITOR, RESP2's messages.
  const bool mixes = player.may_be_pushed && (player.is_monitoring || !player.is_resp3);
  const bool leaves_ping_open = is_named(step, "MULTI") || reply_mode(step.words).has_value();
  const bool is_plain =
      player.in_multi || player.is_mute || !(stands_alone(step) || (mixes && !leaves_ping_open));
  const bool may_subscribe =
      is_named(step, "EXEC") && std::any_of(player.queued.begin(), player.queued.end(), subscribes);
  if (!is_plain || may_subscribe) {
    return is_scan(step) ? play_scan(step, first) : play_alone(step, first);
  }
  at = end_of_burst(sequence, first);
  for (std::size_t i = first + 1; i < at; ++i) ++calls_[lower_case(sequence[i].words[0])];
  return play_burst(std::span(sequence).subspan(first, at - first), first);
}

void Match::send(Client& to, const Words& words) {
  const Duration now = since_epoch();
  const Words sent = at_moment(words, now);
  const auto newer = in_words_of_redis_7_0(words);
  for (const Side side : kSides) {
    const Words own = side == kRedis && newer ? at_moment(*newer, now) : sent;
    protocol::OutputBuffer bytes;
    protocol::write_request(views(own), bytes);
    to.links[side]->send(bytes.view());
  }
}

bool Match::expects_reply(Client& of, const Step& step) {
  ++requests_;
  const auto mode = of.in_multi ? std::nullopt : reply_mode(step.words);
  const bool was_skipped = std::exchange(of.skips_next, false);
  if (mode == "on" || is_named(step, "RESET")) {
    of.is_mute = false;
    return true;
  }
  if (mode == "off") of.is_mute = true;
  if (mode == "skip" && !of.is_mute) of.skips_next = true;
  return !of.is_mute && !of.skips_next && !was_skipped;
}

std::optional<Difference> Match::play_burst(std::span<const Step> steps, std::size_t first) {
  Client& player = client(steps.front().client);
  protocol::OutputBuffer bytes[2];
  const Duration now = since_epoch();
  for (const Step& step : steps) {
    Words sent = at_moment(step.words, now);
    if (is_scan(step)) sent[1] = "0";
    const auto newer = in_words_of_redis_7_0(step.words);
    protocol::write_request(views(sent), bytes[kNode]);
    protocol::write_request(views(newer ? at_moment(*newer, now) : sent), bytes[kRedis]);
  }
  for (const Side side : kSides) player.links[side]->send(bytes[side].view());
  for (std::size_t i = 0; i < steps.size() && !player.is_closed; ++i) {
    if (!expects_reply(player, steps[i])) {
      tell(steps[i], "", "");
      continue;
    }
    Answer answers[2] = {answer_of(player, kNode), answer_of(player, kRedis)};
    speak_of(steps[i].words, answers[kRedis]);
    if (transcript_ != nullptr) {  // most are never told
      tell(steps[i], answers[kNode].to_string(), answers[kRedis].to_string());
    }
    if (!is_same(player, steps[i].words, answers[kNode], answers[kRedis])) {
      return Difference{first + i, answers[kNode].to_string(), answers[kRedis].to_string(), ""};
    }
    note(player, steps[i].words, answers[kRedis]);
  }
  return std::nullopt;
}

// The next reply; pushes before it are kept.
Answer Match::answer_of(Client& from, Side side) {
  Answer answer = from.links[side]->next();
  while (answer.is_push()) {
    from.pushed.sides[side].push_back(std::move(answer));
    answer = from.links[side]->next();
  }
  return answer;
}

std::optional<Difference> Match::play_alone(const Step& step, std::size_t at) {
  Client& player = client(step.client);
  ++requests_;
  player.skips_next = false;
  send(player, step.words);
  send_fence(player);
  Pair pair = read_to_fence(player);
  for (Answer& answer : pair.sides[kRedis]) speak_of(step.words, answer);
  if (transcript_ != nullptr) {
    tell(step, texts_of(pair.sides[kNode]), texts_of(pair.sides[kRedis]));
  }
  const bool is_unsubscribe = lower_case(step.words[0]).find("unsubscribe") != std::string::npos;
  const bool is_single =
      pair.sides[kNode].size() == 1 && pair.sides[kRedis].size() == 1 && !is_unsubscribe;
  const bool same = is_single
                        ? is_same(player, step.words, pair.sides[kNode][0], pair.sides[kRedis][0])
                        : is_same_list(player, pair, is_unsubscribe);
  if (!same) return difference(at, pair.sides[kNode], pair.sides[kRedis], "");
  for (const Answer& answer : pair.sides[kRedis]) note(player, step.words, answer);
  if (subscribes(step.words) || is_named(step, "MONITOR")) player.may_be_pushed = true;
  if (is_named(step, "EXEC")) {
    player.in_multi = false;
    player.may_be_pushed = true;
  }
  return std::nullopt;
}

// What each server names until its cursor is 0 again, as sets.
std::optional<Difference> Match::play_scan(const Step& step, std::size_t at) {
  constexpr int kCallsMax = 100'000;
  Client& player = client(step.client);
  std::set<std::string> names[2];
  std::string errors[2];
  for (const Side side : kSides) {
    Words words = step.words;
    words[1] = "0";
    for (int calls = 0; calls < kCallsMax; ++calls) {
      ++requests_;
      protocol::OutputBuffer bytes;
      protocol::write_request(views(words), bytes);
      player.links[side]->send(bytes.view());
      const Answer answer = answer_of(player, side);
      const auto& items = answer.reply.items();
      if (!answer.is_reply() || items.size() != 2) {
        errors[side] = answer.to_string();
        break;
      }
      for (const Reply& name : items[1].items()) names[side].insert(name.to_string());
      words[1] = items[0].text();
      if (words[1] == "0") break;
    }
    if (words[1] != "0") errors[side] = "(no end)";
  }
  std::string texts[2];
  for (const Side side : kSides) {
    texts[side] = errors[side] + "[";
    for (const std::string& name : names[side]) texts[side] += name + ", ";
    texts[side] += "]";
  }
  tell(step, texts[kNode], texts[kRedis]);
  if (texts[kNode] == texts[kRedis]) return std::nullopt;
  return Difference{at, texts[kNode], texts[kRedis], ""};
}

std::optional<Difference> Match::play_bytes(const Step& step, std::size_t at) {
  ++requests_;
  std::string rest[2];
  for (const Side side : kSides) {
    Link link(servers_[side]->socket_path());
    link.send(step.words[0]);
    link.end_sending();
    rest[side] = Reply::bulk(link.rest()).to_string();
  }
  tell(step, rest[kNode], rest[kRedis]);
  if (rest[kNode] == rest[kRedis]) return std::nullopt;
  return Difference{at, rest[kNode], rest[kRedis], ""};
}

// --- the same?

bool Match::is_same(Client& of, const Words& words, const Answer& node, const Answer& redis) {
  if (node.state == Answer::State::silent) return false;  // then nobody knows what was to come
  if (node == redis) return true;
  if (!node.is_reply() || !redis.is_reply()) return false;
  const Duration so_far = std::chrono::steady_clock::now() - began_;
  const std::int64_t apart_ms = kClocksApartMs + ceil_ms(slowest_ + so_far);
  const Same same = [this, apart_ms](const Words& request, const Reply& a, const Reply& b) {
    const auto looked_at = views(request);
    if (agree(rule_of(looked_at), a, b, apart_ms)) return true;
    const WantedDifference* wanted = wanted_difference(looked_at, a, b);
    if (wanted != nullptr) ++wanted_[wanted->subject];
    return wanted != nullptr;
  };
  const bool is_exec = of.in_multi && equals_ignoring_case(words[0], "EXEC");
  if (is_exec) return agree_on_exec(of.queued, node.reply, redis.reply, same);
  if (rule_of(views(words)) == Rule::exact && node.reply == redis.reply)
    return false;  // other bytes
  return same(words, node.reply, redis.reply);
}

// What Redis answered says how the client stands now.
void Match::note(Client& of, const Words& words, const Answer& redis) {
  const std::string name = lower_case(words[0]);
  if (!redis.is_reply()) of.is_closed = true;
  if (redis.reply.is(Reply::Kind::status) && redis.reply.text() == "QUEUED") {
    of.queued.push_back(words);
    return;
  }
  if (name == "multi" && !redis.reply.is_error()) {
    of.in_multi = true;
    of.queued.clear();
  }
  const bool is_arity_error = redis.reply.text().starts_with("ERR wrong number of arguments");
  if (is_one_of(name, {"exec", "discard"}) && !is_arity_error) of.in_multi = false;
  if (name == "reset" && !redis.reply.is_error()) {
    of.in_multi = of.may_be_pushed = of.is_monitoring = of.is_resp3 = false;
  }
  if (name == "hello" && !redis.reply.is_error()) of.is_resp3 = redis.reply.is(Reply::Kind::map);
  if (name == "monitor" && !redis.reply.is_error()) of.is_monitoring = true;
  if (name == "quit") of.is_closed = true;
}

Difference Match::difference(std::size_t at, const Answers& node, const Answers& redis,
                             std::string about) {
  return {at, texts_of(node), texts_of(redis), std::move(about)};
}

// --- telling

void Match::tell(const Step& step, const std::string& node, const std::string& redis) {
  if (transcript_ == nullptr) return;
  *transcript_ += write_step(step);
  if (node == redis) {
    if (!node.empty()) *transcript_ += node + '\n';
  } else {
    *transcript_ += fmt::format("node:  {}\nredis: {}\n", node, redis);
  }
}

}  // namespace redlock::differential
