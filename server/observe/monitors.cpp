#include "server/observe/monitors.h"

#include "base/text/quoted_words.h"
#include "protocol/access/user.h"
#include "protocol/resp/reply.h"
#include "server/observe/secret_words.h"

#include <chrono>

#include <fmt/format.h>

namespace redlock::server {

using protocol::Session;

void Monitors::join(Session& session) {
  session.enter(Session::kMonitoring);
  sessions_.emplace(session.id(), &session);
}

void Monitors::leave(Session& session) {
  session.leave(Session::kMonitoring);
  sessions_.erase(session.id());
}

void Monitors::show(std::string_view line, const protocol::User* of, const Session* except) const {
  const auto reply = protocol::Reply::status_view(line);
  for (const auto& [id, session] : sessions_) {
    const bool sees_all = !session->is_restricted() || session->user()->sees_all_keys();
    if (!sees_all && session->user() != of) continue;
    if (session != except) session->tell(reply, output_bytes_max_);
  }
}

std::string monitor_line(WallTime when, std::string_view from, const protocol::CommandSpec& spec,
                         protocol::Request words, std::size_t bytes_max) {
  const auto us = std::chrono::floor<std::chrono::microseconds>(when.time_since_epoch()).count();
  const bool is_path = from.starts_with('/');
  if (is_path) from = from.substr(0, from.rfind(':'));
  std::string line = fmt::format("{}.{:06} [0 {}{}]", us / 1'000'000, us % 1'000'000,
                                 is_path ? "unix:" : "", from);
  std::size_t left = bytes_max;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = shown_word(spec, words, i);
    if (word.size() > left) return line + fmt::format(" ... ({} more arguments)", words.size() - i);
    left -= word.size();
    line += ' ';
    line += quoted_word(word);
  }
  return line;
}

}  // namespace redlock::server
