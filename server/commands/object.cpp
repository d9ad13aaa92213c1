// TYPE, OBJECT, MEMORY USAGE: what is under a key, in Redis's words for how it would keep it.
#include "base/text/number.h"
#include "base/text/words.h"
#include "protocol/catalogue/command_docs.h"
#include "protocol/resp/errors.h"
#include "server/commands/families.h"
#include "server/locks/packed_hash.h"
#include "server/node/command.h"
#include "server/node/node.h"

#include <optional>

namespace redlock::server {
namespace {

using namespace protocol;  // flags and error texts

// Redis keeps a short text in one piece with its head.
constexpr std::size_t kEmbeddedBytesMax = 44;
// No text that reads as 64 bits is longer.
constexpr std::size_t kIntegerBytesMax = 20;

// Redis shares the objects of these numbers among all keys, and says so many references.
constexpr std::int64_t kSharedIntegers = 10'000;
constexpr std::int64_t kSharedReferences = 2'147'483'647;

constexpr std::string_view kNoFrequencies =
    "ERR An LFU maxmemory policy is not selected, access frequency not tracked. Please note that "
    "when switching between policies at runtime LRU and LFU data will take some time to adjust.";

const Lock* find(const Call& call, std::size_t word) {
  return call.node.locks().find(call.word(word), call.instant());
}

std::optional<std::int64_t> as_integer(std::string_view value) {
  return value.size() <= kIntegerBytesMax ? parse_int64(value) : std::nullopt;
}

Reply type(Call& call) {
  const Lock* lock = find(call, 1);
  return Reply::status_view(lock != nullptr ? kind_name(lock->kind()) : "none");
}

std::string_view encoding(const Lock& lock) {
  if (lock.is_hash()) return PackedHash(lock.value()).was_large() ? "hashtable" : "listpack";
  if (as_integer(lock.value())) return "int";
  return lock.value().size() <= kEmbeddedBytesMax ? "embstr" : "raw";
}

Reply object_encoding(Call& call) {
  const Lock* lock = find(call, 2);
  return lock != nullptr ? Reply::bulk_view(encoding(*lock)) : Reply::null();
}

Reply object_refcount(Call& call) {
  const Lock* lock = find(call, 2);
  if (lock == nullptr) return Reply::null();
  const auto number = lock->is_hash() ? std::nullopt : as_integer(lock->value());
  const bool is_shared = number && *number >= 0 && *number < kSharedIntegers;
  return Reply::integer(is_shared ? kSharedReferences : 1);
}

// No lock is ever evicted, so nobody counts how long one was not looked at.
Reply object_idletime(Call& call) {
  return find(call, 2) != nullptr ? Reply::integer(0) : Reply::null();
}

Reply object_freq(Call& call) {
  return find(call, 2) != nullptr ? Reply::error_view(kNoFrequencies) : Reply::null();
}

Reply object_help(Call& call) {
  return container_help(call.node.commands().specs(), "object");
}

// The options of MEMORY USAGE. SAMPLES has no meaning here: what a lock takes is known exactly.
Refusal read_samples(Request options) {
  for (std::size_t i = 0; i < options.size(); i += 2) {
    if (!equals_ignoring_case(options[i], "SAMPLES") || i + 1 == options.size()) {
      return Reply::error_view(kSyntaxError);
    }
    const auto samples = parse_int64(options[i + 1]);
    if (!samples) return Reply::error_view(kNotAnInteger);
    if (*samples < 0) return Reply::error_view(kSyntaxError);
  }
  return std::nullopt;
}

Reply memory_usage(Call& call) {
  if (Refusal no = read_samples(call.words.subspan(3))) return no;
  const Lock* lock = find(call, 2);
  if (lock == nullptr) return Reply::null();
  return Reply::integer(static_cast<std::int64_t>(LockTable::bytes_of(*lock)));
}

Reply memory_help(Call& call) {
  return container_help(call.node.commands().specs(), "memory");
}

constexpr Command kObjectCommands[] = {
    {{"type", 2, kReadOnly | kFast, 1, 1, 1, "generic", "1.0.0",
      "Answers what is under a key: string, hash, or none.", "key"},
     type},
    {{"object", -2, 0, 0, 0, 0, "generic", "2.2.3", "Commands about what is under a key.", ""},
     nullptr},
    {{"object|encoding", 3, kReadOnly, 2, 2, 1, "generic", "2.2.3",
      "Answers in which form Redis would keep the value.", "key"},
     object_encoding},
    {{"object|freq", 3, kReadOnly, 2, 2, 1, "generic", "4.0.0",
      "Answers an error: nobody counts how often a lock is looked at.", "key"},
     object_freq},
    {{"object|idletime", 3, kReadOnly, 2, 2, 1, "generic", "2.2.3",
      "Answers 0: nobody counts how long a lock was not looked at.", "key"},
     object_idletime},
    {{"object|refcount", 3, kReadOnly, 2, 2, 1, "generic", "2.2.3",
      "Answers how many references Redis would count.", "key"},
     object_refcount},
    {{"object|help", 2, kLoading | kStale, 0, 0, 0, "generic", "6.2.0",
      "Explains OBJECT's subcommands.", ""},
     object_help},
    {{"memory", -2, 0, 0, 0, 0, "server", "4.0.0", "Commands about memory.", ""}, nullptr},
    {{"memory|usage", -3, kReadOnly, 2, 2, 1, "server", "4.0.0",
      "Answers how many bytes a key takes with all that belongs to it.", "key [SAMPLES count]"},
     memory_usage},
    {{"memory|help", 2, kLoading | kStale, 0, 0, 0, "server", "4.0.0",
      "Explains MEMORY's subcommands.", ""},
     memory_help},
};

}  // namespace

Family object_commands() {
  return kObjectCommands;
}

}  // namespace redlock::server
