#include "tests/simulation/line_watch.h"

#include "protocol/resp/reply_parser.h"

#include <algorithm>
#include <functional>
#include <utility>

#include <fmt/format.h>

namespace redlock::simulation {
namespace {

using protocol::ParsedReply;
using protocol::Reply;

// Calls `look` with each that is complete, and leaves the rest. Requests are arrays, as replies.
void take_whole(std::string& bytes, const std::function<void(const Reply&)>& look) {
  std::string_view left = bytes;
  while (!left.empty()) {
    const ParsedReply parsed = protocol::parse_reply(left);
    if (parsed.state != ParsedReply::State::complete) break;
    look(parsed.reply);
    left.remove_prefix(parsed.consumed);
  }
  bytes.erase(0, bytes.size() - left.size());
}

bool is_granted(const Reply& reply) {
  return reply.is(Reply::Kind::array) && !reply.items().empty() &&
         reply.items().front().is(Reply::Kind::integer) && reply.items().front().integer() == 1;
}

}  // namespace

void LineWatch::clear() {
  peers_.clear();
  lines_.clear();
}

void LineWatch::on_requests(ConnectionId connection, std::string_view bytes) {
  Peer& peer = peers_[connection];
  peer.requests += bytes;
  take_whole(peer.requests, [&peer](const Reply& request) {
    using What = Question::What;
    const auto& words = request.items();
    Question& question = peer.questions.emplace_back();
    if (words.size() < 3) return;
    const std::string_view name = words[0].text();
    const bool is_wait = name == "LOCK.WAIT" && words.size() > 3 && words[3].text() == "PUSH";
    if (!is_wait && name != "LOCK.ACQUIRE") return;
    question.key = words[1].text();
    question.what = What::acquire;
    if (!is_wait) return;
    question.timeout = std::chrono::milliseconds(std::stoll(std::string(words[2].text())));
    question.what = question.timeout == 0ms ? What::cancel : What::wait;
  });
}

void LineWatch::on_replies(ConnectionId connection, std::string_view bytes, Instant now) {
  Peer& peer = peers_[connection];
  peer.replies += bytes;
  take_whole(peer.replies, [&](const Reply& reply) {
    if (reply.is(Reply::Kind::push)) return on_push(connection, reply);
    if (peer.questions.empty()) return;
    Question question = std::move(peer.questions.front());
    peer.questions.pop_front();
    on_reply(connection, std::move(question), reply, now);
  });
}

void LineWatch::on_reply(ConnectionId connection, Question question, const Reply& reply,
                         Instant now) {
  switch (question.what) {
    case Question::What::other:
      return;
    case Question::What::acquire:
      if (is_granted(reply)) give_way(question.key, connection, now);
      return;
    case Question::What::cancel:
      if (const auto line = lines_.find(question.key); line != lines_.end()) {
        line->second.waits.erase(connection);
      }
      return give_way(question.key, connection, now);
    case Question::What::wait:
      if (reply.text() != "OK") return;
      Wait& wait = lines_[question.key].waits.try_emplace(connection, Wait{now, {}}).first->second;
      wait.deadline = later(now, question.timeout);
  }
}

void LineWatch::on_push(ConnectionId connection, const Reply& push) {
  const auto& items = push.items();
  if (items.size() != 3 || items[0].text() != "lock.free") return;
  const auto line = lines_.find(std::string(items[1].text()));
  if (line == lines_.end()) return;
  const auto wait = line->second.waits.find(connection);
  if (wait == line->second.waits.end()) return;
  line->second.waits.erase(wait);
  if (items[2].integer() == 1) line->second.told.push_back(connection);
}

void LineWatch::give_way(const std::string& key, ConnectionId connection, Instant now) {
  const auto line = lines_.find(key);
  if (line == lines_.end() || line->second.called.erase(connection) == 0) return;
  line->second.given_way_at = now;
}

void LineWatch::on_close(ConnectionId connection, Instant now) {
  peers_.erase(connection);
  for (auto& [key, line] : lines_) {
    line.waits.erase(connection);
    std::erase(line.told, connection);
    if (line.called.erase(connection) > 0) line.given_way_at = now;
  }
}

void LineWatch::end_turn(const server::Node& node, Instant now) {
  for (auto& [key, line] : lines_) note_calls(line, now);
  std::erase_if(lines_, [](const auto& entry) { return entry.second.waits.empty(); });
  if (lines_.empty()) return;
  std::map<std::string_view, Instant> deadlines;
  node.locks().for_each([&](const server::Lock& lock) { deadlines[lock.key()] = lock.deadline(); });
  for (auto& [key, line] : lines_) {
    const auto lock = deadlines.find(key);
    if (lock != deadlines.end() && lock->second > now) {
      line.free_since = lock->second;
    } else {
      line.free_since = std::min(line.free_since, now);
    }
  }
}

// Where nobody else waits there is no line whose next would have to be called later. Who is called
// twice has its time anew: it may have taken the lock meanwhile and been refused it, as the ledger
// could not be written.
void LineWatch::note_calls(Line& line, Instant now) {
  for (const ConnectionId connection : std::exchange(line.told, {})) {
    ++called_;
    if (line.waits.empty()) continue;
    ++called_before_others_;
    line.called[connection] = now;
  }
}

void LineWatch::check(Instant now) {
  if (!scenario_.clocks_hold) return;
  for (const auto& [key, line] : lines_) check_line(key, line, now);
}

void LineWatch::check_line(const std::string& key, const Line& line, Instant now) {
  Instant first = kNever, timeout = kNever, called = {};
  for (const auto& [connection, wait] : line.waits) {
    first = std::min(first, wait.since);
    timeout = std::min(timeout, wait.deadline);
  }
  for (const auto& [connection, since] : line.called) {
    called = std::max(called, later(since, next_after()));
  }
  const Instant call = std::max({line.free_since, line.given_way_at, first, called});
  const Instant due = std::max(std::min(call, timeout), able_since_);
  if (line.waits.empty() || due >= now || now - due <= time_to_tell()) return;
  referee_.found(
      Breach::untold,
      fmt::format("node {} has {} who wait for {}, and had to tell one of them {} µs ago", node_,
                  line.waits.size(), key, (now - due).count() / 1000));
}

}  // namespace redlock::simulation
