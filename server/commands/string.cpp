// GETSET, GETDEL, GETEX, STRLEN, GETRANGE, MGET, MSET, MSETNX, SETEX, PSETEX: more ways to read and
// write a text.
#include "base/text/number.h"
#include "base/text/words.h"
#include "protocol/resp/errors.h"
#include "server/commands/families.h"
#include "server/commands/ttl.h"
#include "server/grants/grants.h"
#include "server/grants/lock_breaks.h"
#include "server/node/command.h"
#include "server/node/node.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace redlock::server {
namespace {

using namespace protocol;  // flags and error texts

const Lock* read(Call& call, std::string_view key) {
  const Lock* lock = call.node.locks().find(key, call.instant());
  ++(lock != nullptr ? call.node.stats().hits : call.node.stats().misses);
  return lock;
}

Reply text_of(const Lock* lock) {
  return lock == nullptr ? Reply::null() : Reply::bulk(std::string(lock->value()));
}

// GETSET key value: Redis leaves the key without a TTL.
Reply getset(Call& call) {
  const std::string_view key = call.word(1);
  if (Refusal no = call.node.grants().refuse_size(key, call.word(2))) return no;
  Node& node = call.node;
  const Lock* old = read(call, key);
  if (is_hash(old)) return Reply::error_view(kWrongType);
  if (node.grants().requires_ttl()) {
    return needs_ttl(
        fmt::format("use SET {} value PX 30000 GET instead of GETSET", key_in_text(key)));
  }
  if (Refusal no = node.grants().refuse(key, call.instant())) return no;
  if (Refusal no = refuse_break(call, key, Break::overwrites)) return no;
  Reply old_value = text_of(old);
  if (node.grants().grant(key, call.word(2), kNever, call.instant()) == nullptr) {
    return Reply::error_view(kNoMemory);
  }
  node.notify(kStringEvent, "set", key);
  return old_value;
}

Reply getdel(Call& call) {
  const Lock* lock = read(call, call.word(1));
  if (lock == nullptr) return Reply::null();
  if (lock->is_hash()) return Reply::error_view(kWrongType);
  if (Refusal no = refuse_break(call, call.word(1), Break::ends)) return no;
  Reply value = text_of(lock);
  call.node.grants().release(call.word(1), call.instant());
  return value;
}

// GETEX key [EX s|PX ms|EXAT s|PXAT ms|PERSIST]
struct GetexOptions {
  bool persists = false;
  std::optional<std::string_view> ttl_word;
  TtlForm ttl_form = TtlForm::seconds;
};

// False on anything that Redis answers with a syntax error. The same option again replaces it.
bool read_getex_options(Request words, GetexOptions& options) {
  for (std::size_t i = 2; i < words.size(); ++i) {
    const auto form = ttl_form_of(words[i]);
    const bool may_have_ttl = !options.persists && (!options.ttl_word || options.ttl_form == form);
    if (equals_ignoring_case(words[i], "PERSIST") && !options.ttl_word) {
      options.persists = true;
    } else if (form && i + 1 < words.size() && may_have_ttl) {
      options.ttl_form = *form;
      options.ttl_word = words[++i];
    } else {
      return false;
    }
  }
  return true;
}

// lock: which is there.
Refusal change_deadline(Call& call, const Lock& lock, const GetexOptions& options) {
  const std::string_view key = call.word(1);
  Grants& grants = call.node.grants();
  if (options.persists) return grants.take_deadline_away(key, call.instant());
  TtlReading ttl = read_ttl(call, *options.ttl_word, options.ttl_form, NonPositive::refused);
  if (ttl.refusal) return std::move(ttl.refusal);
  Instant deadline = later(call.instant(), ttl.remaining);
  if (Refusal no = refuse_shortening(call, lock, deadline)) return no;
  return grants.move_deadline(key, deadline, call.instant());
}

Reply getex(Call& call) {
  GetexOptions options;
  if (!read_getex_options(call.words, options)) return Reply::error_view(kSyntaxError);
  const Lock* lock = read(call, call.word(1));
  if (lock == nullptr) return Reply::null();
  if (lock->is_hash()) return Reply::error_view(kWrongType);
  Reply value = text_of(lock);
  if (options.persists || options.ttl_word) {
    if (Refusal no = change_deadline(call, *lock, options)) return no;
  }
  return value;
}

Reply strlen(Call& call) {
  const Lock* lock = read(call, call.word(1));
  if (is_hash(lock)) return Reply::error_view(kWrongType);
  return Reply::integer(lock == nullptr ? 0 : static_cast<std::int64_t>(lock->value().size()));
}

// GETRANGE key start end: the bytes from start to end, both included; negative ones count from the
// end. Beyond an end of the text its end is meant, also where both are: "GETRANGE k -9 -8" of a
// short text answers its first byte, as in Redis.
std::string_view range_of(std::string_view text, std::int64_t start, std::int64_t end) {
  if (start < 0 && end < 0 && start > end) return {};
  const auto size = static_cast<std::int64_t>(text.size());
  if (start < 0) start = std::max<std::int64_t>(start + size, 0);
  if (end < 0) end = std::max<std::int64_t>(end + size, 0);
  end = std::min(end, size - 1);
  if (start > end) return {};
  return text.substr(static_cast<std::size_t>(start), static_cast<std::size_t>(end - start + 1));
}

Reply getrange(Call& call) {
  const auto start = parse_int64(call.word(2));
  const auto end = parse_int64(call.word(3));
  if (!start || !end) return Reply::error_view(kNotAnInteger);
  const Lock* lock = read(call, call.word(1));
  if (is_hash(lock)) return Reply::error_view(kWrongType);
  return Reply::bulk_view(lock == nullptr ? "" : range_of(lock->value(), *start, *end));
}

// Null for what is no text. Views: a look at another key may give that one back, at the same
// instant it leaves this one where it is.
Reply mget(Call& call) {
  Reply values = Reply::array();
  for (const std::string_view key : call.words.subspan(1)) {
    const Lock* lock = read(call, key);
    const bool is_text = lock != nullptr && !lock->is_hash();
    values.add(is_text ? Reply::bulk_view(lock->value()) : Reply::null());
  }
  return values;
}

// Words 1, 3, 5 … are keys, each with its value behind it.
Refusal refuse_pairs(const Call& call) {
  if (call.words.size() % 2 == 0) return wrong_arity(call.command.spec.name);
  for (std::size_t i = 1; i < call.words.size(); i += 2) {
    if (Refusal no = call.node.grants().refuse_size(call.word(i), call.word(i + 1))) return no;
  }
  return std::nullopt;
}

// Before any of them is set, so that they are set all or none.
Refusal refuse_grants(const Call& call) {
  std::vector<std::string_view> keys;
  for (std::size_t i = 1; i < call.words.size(); i += 2) keys.push_back(call.word(i));
  if (Refusal no = call.node.grants().refuse(keys, call.instant())) return no;
  for (std::size_t i = 1; i < call.words.size(); i += 2) {
    if (Refusal no = refuse_break(call, call.word(i), Break::overwrites)) return no;
  }
  return std::nullopt;
}

// REQUIRES: refuse_grants() let it pass.
Refusal grant_pairs(Call& call) {
  for (std::size_t i = 1; i < call.words.size(); i += 2) {
    if (call.node.grants().grant_without_ttl(call.word(i), call.word(i + 1), call.instant()) ==
        nullptr) {
      return Reply::error_view(kNoMemory);
    }
    call.node.notify(kStringEvent, "set", call.word(i));
  }
  return std::nullopt;
}

Reply mset(Call& call) {
  if (Refusal no = refuse_pairs(call)) return no;
  if (Refusal no = refuse_grants(call)) return no;
  if (Refusal no = grant_pairs(call)) return no;
  return Reply::ok();
}

// All or none.
Reply msetnx(Call& call) {
  if (Refusal no = refuse_pairs(call)) return no;
  Node& node = call.node;
  for (std::size_t i = 1; i < call.words.size(); i += 2) {
    if (node.locks().find(call.word(i), call.instant()) != nullptr) {
      ++node.stats().refused_held;
      return Reply::integer(0);
    }
  }
  if (Refusal no = refuse_grants(call)) {
    if (node.grants().answers_held(call.instant())) return Reply::integer(0);
    return no;
  }
  if (Refusal no = grant_pairs(call)) {
    for (std::size_t i = 1; i < call.words.size(); i += 2) {
      node.grants().undo_grant(call.word(i), call.instant());
    }
    return no;
  }
  return Reply::integer(1);
}

// SETEX key seconds value
Reply set_with_ttl(Call& call, TtlForm form) {
  const std::string_view key = call.word(1);
  if (Refusal no = call.node.grants().refuse_size(key, call.word(3))) return no;
  TtlReading ttl = read_ttl(call, call.word(2), form, NonPositive::refused);
  if (ttl.refusal) return std::move(ttl.refusal);
  Node& node = call.node;
  if (Refusal no = node.grants().refuse(key, call.instant())) return no;
  if (Refusal no = refuse_break(call, key, Break::overwrites)) return no;
  const Instant deadline = later(call.instant(), ttl.remaining);
  const Lock* lock = node.grants().grant(key, call.word(3), deadline, call.instant());
  if (lock == nullptr) return Reply::error_view(kNoMemory);
  node.grants().note_own_ttl(key);
  tell_of_grant(call, key);
  return Reply::ok();
}

Reply setex(Call& call) {
  return set_with_ttl(call, TtlForm::seconds);
}
Reply psetex(Call& call) {
  return set_with_ttl(call, TtlForm::milliseconds);
}

constexpr Command kStringCommands[] = {
    {{"getset", 3, kWrite | kDenyOom | kFast, 1, 1, 1, "string", "1.0.0",
      "Sets a value without a TTL; answers the one before.", "key value"},
     getset},
    {{"getdel", 2, kWrite | kFast, 1, 1, 1, "string", "6.2.0", "Answers a value and deletes it.",
      "key"},
     getdel},
    {{"getex", -2, kWrite | kFast, 1, 1, 1, "string", "6.2.0",
      "Answers a value and sets the time that it has left.",
      "key [EX seconds|PX milliseconds|EXAT unix-time-seconds|PXAT "
      "unix-time-milliseconds|PERSIST]"},
     getex},
    {{"strlen", 2, kReadOnly | kFast, 1, 1, 1, "string", "2.2.0", "Answers the length of a value.",
      "key"},
     strlen},
    {{"getrange", 4, kReadOnly, 1, 1, 1, "string", "2.4.0", "Answers a part of a value.",
      "key start end"},
     getrange},
    {{"substr", 4, kReadOnly, 1, 1, 1, "string", "1.0.0", "Answers a part of a value.",
      "key start end"},
     getrange},
    {{"mget", -2, kReadOnly | kFast, 1, -1, 1, "string", "1.0.0", "Answers the values of keys.",
      "key [key ...]"},
     mget},
    {{"mset", -3, kWrite | kDenyOom, 1, -1, 2, "string", "1.0.1",
      "Sets values of keys; each gets max-ttl as its TTL.", "key value [key value ...]"},
     mset},
    {{"msetnx", -3, kWrite | kDenyOom, 1, -1, 2, "string", "1.0.1",
      "Sets values of keys if none of them exists; each gets max-ttl as its TTL.",
      "key value [key value ...]"},
     msetnx},
    {{"setex", 4, kWrite | kDenyOom, 1, 1, 1, "string", "2.0.0",
      "Takes a lock: sets the value of a key, with a TTL in seconds.", "key seconds value"},
     setex},
    {{"psetex", 4, kWrite | kDenyOom, 1, 1, 1, "string", "2.6.0",
      "Takes a lock: sets the value of a key, with a TTL in milliseconds.",
      "key milliseconds value"},
     psetex},
};

}  // namespace

Family string_commands() {
  return kStringCommands;
}

}  // namespace redlock::server
