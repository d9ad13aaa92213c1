// HSET and its family: a hash, as the holders of a reentrant lock, and how often each took it.
//
// To make one is a grant (rule L4), and as no command of the family has a TTL, it gets max-ttl
// (rule L2). To change its fields is not: its deadline and its token stay. One that loses its last
// field is gone.
#include "base/text/number.h"
#include "protocol/resp/errors.h"
#include "server/commands/families.h"
#include "server/grants/grants.h"
#include "server/grants/lock_breaks.h"
#include "server/locks/packed_hash.h"
#include "server/node/command.h"
#include "server/node/node.h"

#include <optional>
#include <string>
#include <utility>

namespace redlock::server {
namespace {

using namespace protocol;  // flags and error texts

constexpr std::string_view kWouldOverflow = "ERR increment or decrement would overflow";
constexpr std::string_view kHashValueNotAnInteger = "ERR hash value is not an integer";

// To look through a hash takes its length. With what the holders of a reentrant lock have, that is
// nothing; of larger ones it is work.
constexpr std::size_t kSmallHashBytes = 4096;
constexpr Duration kTimePerByte = 4ns;

// The key as a command of this family finds it.
struct Found {
  std::optional<PackedHash> hash;  // nullopt: no such key
  Refusal refusal;                 // a text, or a hash that is to wait for its turn
};

bool is_to_wait(const Call& call, std::size_t bytes) {
  if (bytes <= kSmallHashBytes || call.from_script || call.in_transaction) return false;
  if (call.node.turns().others_come_first()) return true;
  call.node.turns().note_work(static_cast<std::int64_t>(bytes) * kTimePerByte, call.now);
  return false;
}

Found find(const Call& call) {
  const Lock* lock = call.node.locks().find(call.word(1), call.instant());
  if (lock == nullptr) return {};
  if (!lock->is_hash()) return {std::nullopt, Reply::error_view(kWrongType)};
  if (is_to_wait(call, lock->value().size())) [[unlikely]]
    return {std::nullopt, call.node.turns().behind_others(call.session)};
  return {PackedHash(lock->value()), std::nullopt};
}

// The same for a command that only looks.
Found look(const Call& call) {
  Found found = find(call);
  if (found.refusal) return found;
  ++(found.hash ? call.node.stats().hits : call.node.stats().misses);
  return found;
}

HashFields fields_of(const Found& found) {
  return found.hash ? HashFields(*found.hash) : HashFields();
}

// Puts the fields under the key, and tells of it. REQUIRES: there is one at least.
Refusal store(const Call& call, const Found& found, const HashFields& fields,
              std::string_view event = "hset") {
  const std::uint64_t bytes_max = call.node.settings().value_size_limit;
  const std::size_t bytes = fields.packed_bytes();
  if (bytes > bytes_max) return value_too_large("hash", bytes, bytes_max);
  Grants& grants = call.node.grants();
  Refusal no =
      found.hash ? grants.refuse(call.instant()) : grants.refuse(call.word(1), call.instant());
  if (!no) no = refuse_break(call, call.word(1), Break::overwrites);
  if (no) return no;
  const std::string packed = fields.pack();
  const Lock* lock =
      found.hash ? grants.change_hash(call.word(1), packed, call.instant())
                 : grants.grant_without_ttl(call.word(1), packed, call.instant(), LockKind::hash);
  if (lock == nullptr) return Reply::error_view(kNoMemory);
  call.node.notify(kHashEvent, event, call.word(1));
  return std::nullopt;
}

// Sets "field value" from the third word on; `reply` makes the answer of how many were new.
template <class MakeReply>
Reply set_fields(Call& call, MakeReply reply) {
  if (call.words.size() % 2 == 1) return wrong_arity(call.command.spec.name);
  if (Refusal no = call.node.grants().refuse_size(call.word(1))) return no;
  Found found = find(call);
  if (found.refusal) return std::move(found.refusal);
  HashFields fields = fields_of(found);
  std::int64_t created = 0;
  for (std::size_t i = 2; i < call.words.size(); i += 2) {
    if (fields.set(call.word(i), call.word(i + 1))) ++created;
  }
  if (Refusal no = store(call, found, fields)) return no;
  return reply(created);
}

Reply hset(Call& call) {
  return set_fields(call, [](std::int64_t created) { return Reply::integer(created); });
}

Reply hmset(Call& call) {
  return set_fields(call, [](std::int64_t) { return Reply::ok(); });
}

Reply hsetnx(Call& call) {
  if (Refusal no = call.node.grants().refuse_size(call.word(1))) return no;
  Found found = find(call);
  if (found.refusal) return std::move(found.refusal);
  if (found.hash && found.hash->find(call.word(2))) return Reply::integer(0);
  HashFields fields = fields_of(found);
  fields.set(call.word(2), call.word(3));
  if (Refusal no = store(call, found, fields)) return no;
  return Reply::integer(1);
}

Reply hincrby(Call& call) {
  const auto step = parse_int64(call.word(3));
  if (!step) return Reply::error_view(kNotAnInteger);
  if (Refusal no = call.node.grants().refuse_size(call.word(1))) return no;
  Found found = find(call);
  if (found.refusal) return std::move(found.refusal);
  const auto old = found.hash ? found.hash->find(call.word(2)) : std::nullopt;
  const auto number = old ? parse_int64(*old) : 0;
  if (!number) return Reply::error_view(kHashValueNotAnInteger);
  std::int64_t raised = 0;
  if (__builtin_add_overflow(*number, *step, &raised)) return Reply::error_view(kWouldOverflow);
  const std::string text = std::to_string(raised);
  HashFields fields = fields_of(found);
  fields.set(call.word(2), text);
  if (Refusal no = store(call, found, fields, "hincrby")) return no;
  return Reply::integer(raised);
}

// A hash without fields is none: without its last one it is released.
Reply hdel(Call& call) {
  Found found = find(call);
  if (found.refusal) return std::move(found.refusal);
  HashFields fields = fields_of(found);
  std::int64_t removed = 0;
  for (const std::string_view name : call.words.subspan(2)) {
    if (fields.remove(name)) ++removed;
  }
  if (removed == 0) return Reply::integer(0);
  const Break how = fields.count() == 0 ? Break::ends : Break::overwrites;
  if (Refusal no = refuse_break(call, call.word(1), how)) return no;
  if (fields.count() > 0) {
    const std::string packed = fields.pack();
    if (call.node.grants().change_hash(call.word(1), packed, call.instant()) == nullptr) {
      return Reply::error_view(kNoMemory);
    }
  }
  call.node.notify(kHashEvent, "hdel", call.word(1));
  if (fields.count() == 0) call.node.grants().release(call.word(1), call.instant());
  return Reply::integer(removed);
}

// What one field says: `tell` makes the answer of its value, nullopt for none.
template <class Tell>
Reply ask_field(Call& call, Tell tell) {
  Found found = look(call);
  if (found.refusal) return std::move(found.refusal);
  return tell(found.hash ? found.hash->find(call.word(2)) : std::nullopt);
}

Reply value_reply(std::optional<std::string_view> value) {
  return value ? Reply::bulk_view(*value) : Reply::null();
}

Reply hget(Call& call) {
  return ask_field(call, value_reply);
}

Reply hexists(Call& call) {
  return ask_field(call, [](auto value) { return Reply::integer(value ? 1 : 0); });
}

Reply hstrlen(Call& call) {
  return ask_field(call, [](auto value) {
    return Reply::integer(value ? static_cast<std::int64_t>(value->size()) : 0);
  });
}

Reply hmget(Call& call) {
  Found found = look(call);
  if (found.refusal) return std::move(found.refusal);
  HashFields fields = fields_of(found);
  Reply answer = Reply::array();
  for (const std::string_view name : call.words.subspan(2)) {
    answer.add(value_reply(fields.find(name)));
  }
  return answer;
}

Reply hlen(Call& call) {
  Found found = look(call);
  if (found.refusal) return std::move(found.refusal);
  return Reply::integer(found.hash ? static_cast<std::int64_t>(found.hash->count()) : 0);
}

// All fields, in order, into `answer`: `add` puts one there.
template <class Add>
Reply list_fields(Call& call, Reply answer, Add add) {
  Found found = look(call);
  if (found.refusal) return std::move(found.refusal);
  if (found.hash) found.hash->for_each([&](const HashField& field) { add(answer, field); });
  return answer;
}

Reply hkeys(Call& call) {
  return list_fields(call, Reply::array(), [](Reply& answer, const HashField& field) {
    answer.add(Reply::bulk_view(field.name));
  });
}

Reply hvals(Call& call) {
  return list_fields(call, Reply::array(), [](Reply& answer, const HashField& field) {
    answer.add(Reply::bulk_view(field.value));
  });
}

Reply hgetall(Call& call) {
  return list_fields(call, Reply::map({}), [](Reply& answer, const HashField& field) {
    answer.add(Reply::bulk_view(field.name)).add(Reply::bulk_view(field.value));
  });
}

constexpr std::uint32_t kMake = kWrite | kDenyOom | kFast;
constexpr std::uint32_t kRead = kReadOnly | kFast;

constexpr Command kHashCommands[] = {
    {{"hset", -4, kMake, 1, 1, 1, "hash", "2.0.0",
      "Sets fields of a hash; a new one gets max-ttl as its TTL.",
      "key field value [field value ...]"},
     hset},
    {{"hmset", -4, kMake, 1, 1, 1, "hash", "2.0.0",
      "Sets fields of a hash; a new one gets max-ttl as its TTL.",
      "key field value [field value ...]"},
     hmset},
    {{"hsetnx", 4, kMake, 1, 1, 1, "hash", "2.0.0",
      "Sets a field that does not exist; a new hash gets max-ttl as its TTL.", "key field value"},
     hsetnx},
    {{"hincrby", 4, kMake, 1, 1, 1, "hash", "2.0.0",
      "Adds to the number in a field; a new hash gets max-ttl as its TTL.", "key field increment"},
     hincrby},
    {{"hdel", -3, kWrite | kFast, 1, 1, 1, "hash", "2.0.0",
      "Removes fields; with the last one the hash goes.", "key field [field ...]"},
     hdel},
    {{"hget", 3, kRead, 1, 1, 1, "hash", "2.0.0", "Answers the value of a field.", "key field"},
     hget},
    {{"hmget", -3, kRead, 1, 1, 1, "hash", "2.0.0", "Answers the values of fields.",
      "key field [field ...]"},
     hmget},
    {{"hexists", 3, kRead, 1, 1, 1, "hash", "2.0.0", "Answers whether a field exists.",
      "key field"},
     hexists},
    {{"hstrlen", 3, kRead, 1, 1, 1, "hash", "3.2.0", "Answers the bytes of a field's value.",
      "key field"},
     hstrlen},
    {{"hlen", 2, kRead, 1, 1, 1, "hash", "2.0.0", "Answers how many fields a hash has.", "key"},
     hlen},
    {{"hkeys", 2, kReadOnly | kTimed, 1, 1, 1, "hash", "2.0.0", "Answers the names of all fields.",
      "key"},
     hkeys},
    {{"hvals", 2, kReadOnly | kTimed, 1, 1, 1, "hash", "2.0.0", "Answers the values of all fields.",
      "key"},
     hvals},
    {{"hgetall", 2, kReadOnly | kTimed, 1, 1, 1, "hash", "2.0.0",
      "Answers all fields with their values.", "key"},
     hgetall},
};

}  // namespace

Family hash_commands() {
  return kHashCommands;
}

}  // namespace redlock::server
