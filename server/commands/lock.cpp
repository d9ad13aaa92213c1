// SET, SETNX, GET, DEL, UNLINK, DELIFEQ, DELEX, EXISTS, TOUCH:
// taking, reading and giving back a lock.
#include "base/text/words.h"
#include "protocol/resp/errors.h"
#include "server/commands/families.h"
#include "server/commands/ttl.h"
#include "server/grants/grants.h"
#include "server/grants/lock_breaks.h"
#include "server/node/command.h"
#include "server/node/node.h"

#include <optional>

#include <fmt/format.h>

namespace redlock::server {
namespace {

using namespace protocol;  // flags and error texts

// SET key value [NX|XX|IFEQ value|IFNE value] [GET] [EX s|PX ms|EXAT s|PXAT ms|KEEPTTL]
struct SetOptions {
  bool only_if_absent = false;
  bool only_if_present = false;
  bool answer_old_value = false;
  bool keep_ttl = false;
  // Of the request; nullptr: none.
  const std::string_view* only_if_equals = nullptr;
  const std::string_view* only_if_differs = nullptr;  // so also if there is none
  const std::string_view* ttl_word = nullptr;
  TtlForm ttl_form = TtlForm::seconds;
};

bool compares_value(const SetOptions& options) {
  return options.only_if_equals != nullptr || options.only_if_differs != nullptr;
}

// One TTL at most; the same form again replaces it, as in Redis.
bool may_read(const SetOptions& options, TtlForm form) {
  return !options.keep_ttl && (options.ttl_word == nullptr || options.ttl_form == form);
}

// False on anything that Redis answers with a syntax error.
bool read_set_options(Request words, SetOptions& options) {
  for (std::size_t i = 3; i < words.size(); ++i) {
    const std::string_view option = words[i];
    const bool has_next = i + 1 < words.size();
    const bool has_condition =
        options.only_if_absent || options.only_if_present || compares_value(options);
    if (equals_ignoring_case(option, "NX") && (options.only_if_absent || !has_condition)) {
      options.only_if_absent = true;
    } else if (equals_ignoring_case(option, "XX") && (options.only_if_present || !has_condition)) {
      options.only_if_present = true;
    } else if (equals_ignoring_case(option, "GET")) {
      options.answer_old_value = true;
    } else if (equals_ignoring_case(option, "KEEPTTL") && options.ttl_word == nullptr) {
      options.keep_ttl = true;
    } else if (equals_ignoring_case(option, "IFEQ") && has_next && !has_condition) {
      options.only_if_equals = &words[++i];
    } else if (equals_ignoring_case(option, "IFNE") && has_next && !has_condition) {
      options.only_if_differs = &words[++i];
    } else if (const auto form = ttl_form_of(option);
               form && has_next && may_read(options, *form)) {
      options.ttl_form = *form;
      options.ttl_word = &words[++i];
    } else {
      return false;
    }
  }
  return true;
}

// REQUIRES: Grants::refuse() let it pass.
Refusal put(Call& call, std::string_view value, Instant deadline) {
  const Lock* lock = call.node.grants().grant(call.word(1), value, deadline, call.instant());
  if (lock == nullptr) return Reply::error_view(kNoMemory);
  return std::nullopt;
}

bool holds(const SetOptions& options, const Lock* old) {
  if (options.only_if_absent) return old == nullptr;
  if (options.only_if_present) return old != nullptr;
  if (options.only_if_equals != nullptr)
    return old != nullptr && old->holds(*options.only_if_equals);
  if (options.only_if_differs != nullptr)
    return old == nullptr || !old->holds(*options.only_if_differs);
  return true;
}

Reply no_ttl(const Call& call) {
  return needs_ttl(fmt::format("add PX milliseconds, as in SET {} value NX PX 30000",
                               key_in_text(call.word(1))));
}

// KEEPTTL over another's lock.
Refusal refuse_kept(const Call& call, const SetOptions& options, const Lock* old) {
  if (!options.keep_ttl || old == nullptr || old->holds(call.word(2))) return {};
  return refuse_kept_deadline(call, old->deadline());
}

Reply set(Call& call) {
  SetOptions options;
  if (!read_set_options(call.words, options)) return Reply::error_view(kSyntaxError);
  if (Refusal no = call.node.grants().refuse_size(call.word(1), call.word(2))) return no;
  Duration remaining{};
  if (options.ttl_word != nullptr) {
    TtlReading ttl = read_ttl(call, *options.ttl_word, options.ttl_form, NonPositive::refused);
    if (ttl.refusal) return std::move(ttl.refusal);
    remaining = ttl.remaining;
  }
  Node& node = call.node;
  const Lock* old = node.locks().find(call.word(1), call.instant());
  Reply old_value = Reply::null();
  if (old != nullptr && (options.answer_old_value || compares_value(options))) {
    if (old->is_hash()) return Reply::error_view(kWrongType);
    if (options.answer_old_value) old_value = Reply::bulk(std::string(old->value()));
  }
  if (!holds(options, old)) {
    if (options.only_if_absent) ++node.stats().refused_held;
    // Coordinators set a deadline by SET … IFEQ: a nil would be a vote (rules R10, D8).
    const bool is_recovering = node.grants().is_recovering(call.instant());
    if (options.only_if_equals != nullptr && is_recovering)
      return node.grants().refuse(call.instant());
    return old_value;
  }
  Instant deadline = options.ttl_word != nullptr ? later(call.instant(), remaining) : kNever;
  if (options.keep_ttl && old != nullptr) deadline = old->deadline();
  if (deadline == kNever && node.grants().requires_ttl()) return no_ttl(call);
  if (Refusal no = refuse_kept(call, options, old)) return no;
  Grants& grants = node.grants();
  if (Refusal no = grants.refuse(call.word(1), call.instant())) {
    const bool is_plain_try = options.only_if_absent && !options.answer_old_value;
    if (is_plain_try && grants.answers_held(call.instant())) return Reply::null();
    return no;
  }
  if (old != nullptr && options.only_if_equals == nullptr) {
    if (Refusal no = refuse_break(call, call.word(1), Break::overwrites)) return no;
  }
  if (options.ttl_word != nullptr) grants.note_own_ttl(call.word(1));
  const bool is_over_at_once = deadline <= call.instant();
  if (is_over_at_once) {
    grants.grant_in_the_past(call.word(1), call.instant());
  } else if (Refusal no = put(call, call.word(2), deadline)) {
    return no;
  }
  node.notify(kStringEvent, "set", call.word(1));
  if (options.ttl_word != nullptr) node.notify(kGenericEvent, "expire", call.word(1));
  if (is_over_at_once) node.notify(kExpiredEvent, "expired", call.word(1));
  return options.answer_old_value ? std::move(old_value) : Reply::ok();
}

// SETNX key value: made without a TTL, so it gets max-ttl where TTLs are required (rule L2).
Reply setnx(Call& call) {
  if (Refusal no = call.node.grants().refuse_size(call.word(1), call.word(2))) return no;
  Node& node = call.node;
  if (node.locks().find(call.word(1), call.instant()) != nullptr) {
    ++node.stats().refused_held;
    return Reply::integer(0);
  }
  if (Refusal no = node.grants().refuse(call.word(1), call.instant())) {
    if (node.grants().answers_held(call.instant())) return Reply::integer(0);
    return no;
  }
  if (node.grants().grant_without_ttl(call.word(1), call.word(2), call.instant()) == nullptr) {
    return Reply::error_view(kNoMemory);
  }
  node.notify(kStringEvent, "set", call.word(1));
  return Reply::integer(1);
}

Reply get(Call& call) {
  const Lock* lock = call.node.locks().find(call.word(1), call.instant());
  ++(lock != nullptr ? call.node.stats().hits : call.node.stats().misses);
  if (lock == nullptr) return Reply::null();
  return lock->is_hash() ? Reply::error_view(kWrongType) : Reply::bulk_view(lock->value());
}

// All or none, where breaks are refused.
Reply del(Call& call) {
  for (const std::string_view key : call.words.subspan(1)) {
    if (Refusal no = refuse_break(call, key, Break::ends)) return no;
  }
  std::int64_t released = 0;
  for (const std::string_view key : call.words.subspan(1)) {
    if (call.node.grants().release(key, call.instant())) ++released;
  }
  return Reply::integer(released);
}

// REQUIRES: there is such a lock, and the call names its value.
Reply released(Call& call) {
  call.node.grants().release(call.word(1), call.instant());
  return Reply::integer(1);
}

// DELIFEQ key value, as Valkey has it.
Reply delifeq(Call& call) {
  const Lock* lock = call.node.locks().find(call.word(1), call.instant());
  if (is_hash(lock)) return Reply::error_view(kWrongType);
  if (lock == nullptr || !lock->holds(call.word(2))) return Reply::integer(0);
  return released(call);
}

// The same of a call that does not.
Reply broken(Call& call) {
  if (Refusal no = refuse_break(call, call.word(1), Break::ends)) return no;
  return released(call);
}

// DELEX key [IFEQ value|IFNE value], as Redis has it: with its order of checks and its words. Its
// digests are not served.
Reply delex(Call& call) {
  if (call.words.size() != 2 && call.words.size() != 4) return wrong_arity("delex");
  const Lock* lock = call.node.locks().find(call.word(1), call.instant());
  if (lock == nullptr) return Reply::integer(0);
  if (call.words.size() == 2) return broken(call);
  if (lock->is_hash()) {
    return Reply::error_view("ERR Key should be of string type if conditions are specified");
  }
  const bool if_equal = equals_ignoring_case(call.word(2), "IFEQ");
  if (!if_equal && !equals_ignoring_case(call.word(2), "IFNE")) {
    return Reply::error_view("ERR Invalid condition. Use IFEQ or IFNE");
  }
  if (lock->holds(call.word(3)) != if_equal) return Reply::integer(0);
  return if_equal ? released(call) : broken(call);
}

Reply exists(Call& call) {
  std::int64_t found = 0;
  for (const std::string_view key : call.words.subspan(1)) {
    if (call.node.locks().find(key, call.instant()) != nullptr) ++found;
  }
  return Reply::integer(found);
}

constexpr Command kLockCommands[] = {
    {{"set", -3, kWrite | kDenyOom, 1, 1, 1, "string", "1.0.0",
      "Takes a lock: sets the value of a key, with a TTL.",
      "key value [NX|XX|IFEQ comparison-value|IFNE comparison-value] [GET] [EX seconds|PX "
      "milliseconds|EXAT "
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
    {{"unlink", -2, kWrite | kFast, 1, -1, 1, "generic", "4.0.0",
      "Deletes keys; answers how many there were.", "key [key ...]"},
     del},
    {{"delifeq", 3, kWrite | kFast, 1, 1, 1, "string", "9.0.0",
      "Releases a lock: deletes a key if it holds this value.", "key value"},
     delifeq},
    {{"delex", -2, kWrite | kFast, 1, 1, 1, "string", "8.4.0",
      "Releases a lock: deletes a key if it holds this value, or another.",
      "key [IFEQ comparison-value|IFNE comparison-value]"},
     delex},
    {{"exists", -2, kReadOnly | kFast, 1, -1, 1, "generic", "1.0.0",
      "Answers how many of the keys exist.", "key [key ...]"},
     exists},
    {{"touch", -2, kReadOnly | kFast, 1, -1, 1, "generic", "3.2.1",
      "Answers how many of the keys exist.", "key [key ...]"},
     exists},
};

}  // namespace

Family lock_commands() {
  return kLockCommands;
}

}  // namespace redlock::server
