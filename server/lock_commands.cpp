// SET, SETNX, GET, DEL, EXISTS: taking, reading and giving back a lock.
#include "base/number.h"
#include "protocol/errors.h"
#include "server/command.h"
#include "server/grant_errors.h"
#include "server/node.h"
#include "server/ttl.h"

#include <optional>

#include <fmt/format.h>

namespace redlock::server {
namespace {

using namespace protocol;  // flags and error texts

// SET key value [NX|XX|IFEQ value] [GET] [EX s|PX ms|EXAT s|PXAT ms|KEEPTTL]
struct SetOptions {
  bool only_if_absent = false;
  bool only_if_present = false;
  bool answer_old_value = false;
  bool keep_ttl = false;
  std::optional<std::string_view> only_if_equals;
  std::optional<std::string_view> ttl_word;
  TtlForm ttl_form = TtlForm::seconds;
};

std::optional<TtlForm> ttl_form(std::string_view option) {
  if (equals_ignoring_case(option, "PX")) return TtlForm::milliseconds;
  if (equals_ignoring_case(option, "EX")) return TtlForm::seconds;
  if (equals_ignoring_case(option, "PXAT")) return TtlForm::at_milliseconds;
  if (equals_ignoring_case(option, "EXAT")) return TtlForm::at_seconds;
  return std::nullopt;
}

// One TTL at most; the same form again replaces it, as in Redis.
bool may_read(const SetOptions& options, TtlForm form) {
  return !options.keep_ttl && (!options.ttl_word || options.ttl_form == form);
}

// False on anything that Redis answers with a syntax error.
bool read_set_options(Request words, SetOptions& options) {
  for (std::size_t i = 3; i < words.size(); ++i) {
    const std::string_view option = words[i];
    const bool has_next = i + 1 < words.size();
    const bool has_condition =
        options.only_if_absent || options.only_if_present || options.only_if_equals;
    if (equals_ignoring_case(option, "NX") && (options.only_if_absent || !has_condition)) {
      options.only_if_absent = true;
    } else if (equals_ignoring_case(option, "XX") && (options.only_if_present || !has_condition)) {
      options.only_if_present = true;
    } else if (equals_ignoring_case(option, "GET")) {
      options.answer_old_value = true;
    } else if (equals_ignoring_case(option, "KEEPTTL") && !options.ttl_word) {
      options.keep_ttl = true;
    } else if (equals_ignoring_case(option, "IFEQ") && has_next && !has_condition) {
      options.only_if_equals = words[++i];
    } else if (const auto form = ttl_form(option); form && has_next && may_read(options, *form)) {
      options.ttl_form = *form;
      options.ttl_word = words[++i];
    } else {
      return false;
    }
  }
  return true;
}

// REQUIRES: refuse_grant() let it pass.
std::optional<Reply> put(Call& call, std::string_view value, Instant deadline) {
  const Lock* lock = call.node.grant(call.word(1), value, deadline, call.instant());
  if (lock == nullptr) return Reply::error_view(kNoMemory);
  return std::nullopt;
}

// A recovering node and SET … NX in restart-reply held: nil, so that libraries which give up on any
// error ask the other nodes too (rule R10). Never inside a script.
bool answers_held_while_recovering(const Call& call) {
  return !call.from_script && call.node.settings().restart_reply == RestartReply::held &&
         call.node.is_recovering(call.instant());
}

bool holds(const SetOptions& options, const Lock* old) {
  if (options.only_if_absent) return old == nullptr;
  if (options.only_if_present) return old != nullptr;
  if (options.only_if_equals) return old != nullptr && old->holds(*options.only_if_equals);
  return true;
}

Reply no_ttl(const Call& call) {
  return Reply::error(fmt::format(
      "ERR a lock needs a TTL: add PX milliseconds, as in SET {} value NX PX 30000 (this node has "
      "require-ttl yes)",
      call.word(1).size() <= 64 ? call.word(1) : "key"));
}

Reply set(Call& call) {
  SetOptions options;
  if (!read_set_options(call.words, options)) return Reply::error_view(kSyntaxError);
  if (call.word(1).size() > kKeyBytesMax) return key_too_long(call.word(1));
  Duration remaining{};
  if (options.ttl_word) {
    TtlReading ttl = read_ttl(call, *options.ttl_word, options.ttl_form, NonPositive::refused);
    if (ttl.refusal) return std::move(*ttl.refusal);
    remaining = ttl.remaining;
  }
  Node& node = call.node;
  const Lock* old = node.locks().find(call.word(1), call.instant());
  Reply old_value = Reply::null();
  if (old != nullptr && (options.answer_old_value || options.only_if_equals)) {
    if (old->is_hash()) return Reply::error_view(kWrongType);
    if (options.answer_old_value) old_value = Reply::bulk(std::string(old->value()));
  }
  if (!holds(options, old)) {
    if (options.only_if_absent) ++node.stats().refused_held;
    return old_value;
  }
  Instant deadline = kNever;
  if (options.ttl_word) deadline = later(call.instant(), remaining);
  if (options.keep_ttl && old != nullptr) deadline = old->deadline;
  if (deadline == kNever && node.settings().require_ttl) return no_ttl(call);
  if (auto refusal = node.refuse_grant(call)) {
    const bool is_plain_try = options.only_if_absent && !options.answer_old_value;
    if (is_plain_try && answers_held_while_recovering(call)) return Reply::null();
    return std::move(*refusal);
  }
  if (options.ttl_word) node.note_own_ttl(call.word(1));
  const bool is_over_at_once = deadline <= call.instant();
  if (is_over_at_once) {
    node.locks().erase(call.word(1), call.instant());
  } else if (auto failure = put(call, call.word(2), deadline)) {
    return std::move(*failure);
  }
  node.notify(kStringEvent, "set", call.word(1));
  if (options.ttl_word) node.notify(kGenericEvent, "expire", call.word(1));
  if (is_over_at_once) node.notify(kExpiredEvent, "expired", call.word(1));
  return options.answer_old_value ? std::move(old_value) : Reply::ok();
}

// SETNX key value: made without a TTL, so it gets max-ttl where TTLs are required (rule L2).
Reply setnx(Call& call) {
  if (call.word(1).size() > kKeyBytesMax) return key_too_long(call.word(1));
  Node& node = call.node;
  if (node.locks().find(call.word(1), call.instant()) != nullptr) {
    ++node.stats().refused_held;
    return Reply::integer(0);
  }
  if (auto refusal = node.refuse_grant(call)) {
    return answers_held_while_recovering(call) ? Reply::integer(0) : std::move(*refusal);
  }
  const bool imposes = node.settings().require_ttl;
  const Instant deadline = imposes ? later(call.instant(), node.settings().max_ttl) : kNever;
  if (auto failure = put(call, call.word(2), deadline)) return std::move(*failure);
  if (imposes) node.note_imposed_ttl(call.word(1));
  node.notify(kStringEvent, "set", call.word(1));
  return Reply::integer(1);
}

Reply get(Call& call) {
  const Lock* lock = call.node.locks().find(call.word(1), call.instant());
  ++(lock != nullptr ? call.node.stats().hits : call.node.stats().misses);
  if (lock == nullptr) return Reply::null();
  return lock->is_hash() ? Reply::error_view(kWrongType) : Reply::bulk_view(lock->value());
}

Reply del(Call& call) {
  std::int64_t released = 0;
  for (const std::string_view key : call.words.subspan(1)) {
    if (!call.node.locks().erase(key, call.instant())) continue;
    ++released;
    call.node.notify(kGenericEvent, "del", key);
  }
  call.node.stats().released += static_cast<std::uint64_t>(released);
  return Reply::integer(released);
}

Reply exists(Call& call) {
  std::int64_t found = 0;
  for (const std::string_view key : call.words.subspan(1)) {
    if (call.node.locks().find(key, call.instant()) != nullptr) ++found;
  }
  return Reply::integer(found);
}

constexpr Command kCommands[] = {
    {{"set", -3, kWrite | kDenyOom, 1, 1, 1, "string", "1.0.0",
      "Takes a lock: sets the value of a key, with a TTL.",
      "key value [NX|XX|IFEQ comparison-value] [GET] [EX seconds|PX milliseconds|EXAT "
      "unix-time-seconds|PXAT unix-time-milliseconds|KEEPTTL]"},
     set},
    {{"setnx", 3, kWrite | kDenyOom | kFast, 1, 1, 1, "string", "1.0.0",
      "Sets the value of a key that does not exist; it gets max-ttl as its TTL.", "key value"},
     setnx},
    {{"get", 2, kReadOnly | kFast, 1, 1, 1, "string", "1.0.0", "Answers the value of a key.",
      "key"},
     get},
    {{"del", -2, kWrite, 1, -1, 1, "generic", "1.0.0", "Deletes keys; answers how many there were.",
      "key [key ...]"},
     del},
    {{"exists", -2, kReadOnly | kFast, 1, -1, 1, "generic", "1.0.0",
      "Answers how many of the keys exist.", "key [key ...]"},
     exists},
};

}  // namespace

std::span<const Command> lock_commands() {
  return kCommands;
}

}  // namespace redlock::server
