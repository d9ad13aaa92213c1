#include "server/node/grants.h"

#include "base/text/printable.h"
#include "base/text/quoted_words.h"

#include <fmt/format.h>

namespace redlock::server {

using protocol::Reply;

Reply needs_ttl(std::string_view advice) {
  return Reply::error(
      fmt::format("ERR a lock needs a TTL: {} (this node has require-ttl yes)", advice));
}

std::string key_in_text(std::string_view key) {
  constexpr std::size_t kReadable = 64;
  if (key.size() > kReadable || !is_printable(key)) return "key";
  const bool is_one_word = !key.empty() && key.find_first_of(" '\"\\") == std::string_view::npos;
  return is_one_word ? std::string(key) : quoted_word(key);
}

bool answers_held_while_recovering(const Call& call) {
  return call.node.settings().restart_reply == RestartReply::held &&
         call.node.is_recovering(call.instant());
}

const Lock* grant_without_ttl(const Call& call, std::string_view key, std::string_view value,
                              LockKind kind) {
  Node& node = call.node;
  const bool imposes = node.settings().require_ttl;
  const Instant deadline = imposes ? later(call.instant(), node.settings().max_ttl) : kNever;
  const Lock* lock = kind == LockKind::hash ? node.grant_hash(key, value, deadline, call.instant())
                                            : node.grant(key, value, deadline, call.instant());
  if (lock != nullptr && imposes) node.note_imposed_ttl(key);
  return lock;
}

void tell_of_grant(const Call& call, std::string_view key) {
  call.node.notify(kStringEvent, "set", key);
  call.node.notify(kGenericEvent, "expire", key);
}

void release(const Call& call, std::string_view key) {
  call.node.locks().erase(key, call.instant());
  ++call.node.stats().released;
  call.node.notify(kGenericEvent, "del", key);
}

std::optional<Reply> move_deadline(Call& call, std::string_view key, Instant deadline) {
  Node& node = call.node;
  if (deadline <= call.instant()) {
    release(call, key);
    return std::nullopt;
  }
  if (auto refusal = node.refuse_grant(call)) return refusal;
  node.extend(key, deadline, call.instant());
  node.note_own_ttl(key);
  node.notify(kGenericEvent, "expire", key);
  return std::nullopt;
}

std::optional<Reply> take_deadline_away(Call& call, std::string_view key) {
  Node& node = call.node;
  if (!node.locks().find(key, call.instant())->has_deadline()) return std::nullopt;
  if (node.settings().require_ttl) {
    return needs_ttl(
        fmt::format("{} has one and keeps it; use PEXPIRE to extend it instead of "
                    "PERSIST to take it away",
                    key_in_text(key)));
  }
  if (auto refusal = node.refuse_grant(call)) return refusal;
  node.extend(key, kNever, call.instant());
  node.notify(kGenericEvent, "persist", key);
  return std::nullopt;
}

}  // namespace redlock::server
