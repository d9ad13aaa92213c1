// DBSIZE, KEYS, SCAN, RANDOMKEY, FLUSHALL, FLUSHDB: about all keys.
#include "base/text/number.h"
#include "base/text/words.h"
#include "protocol/catalogue/glob.h"
#include "protocol/resp/errors.h"
#include "server/commands/families.h"
#include "server/grants/lock_breaks.h"
#include "server/node/command.h"
#include "server/node/node.h"
#include "server/settings/piece.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace redlock::server {
namespace {

using namespace protocol;  // flags, error texts, patterns

Reply dbsize(Call& call) {
  return Reply::integer(static_cast<std::int64_t>(call.node.locks().size()));
}

// `*` is all of them without a look, as in Redis: also the empty key, which no other glob matches.
bool matches(std::string_view pattern, std::string_view key, std::size_t& steps) {
  return pattern == "*" || glob_matches(pattern, key, steps);
}

// How many keys to look at before what they took is added up. As a key may take kGlobStepsMax,
// their number grows only while they take little.
class Stride {
 public:
  std::size_t keys() const { return keys_; }
  void adapt(std::size_t steps) {
    constexpr std::size_t kKeysMax = 32;  // then a look at the index is shared by enough
    const bool is_little = steps < kStepsOfPiece / 64;
    keys_ = is_little ? std::min(2 * keys_, kKeysMax) : 1;
  }

 private:
  std::size_t keys_ = 1;
};

// In pieces, so that many keys, or a pattern that is hard to match, hold nobody up (walks.h).
Reply keys(Call& call) {
  Walk walk = call.node.walks().take(call.session);
  Stride stride;
  for (std::size_t steps = 0; steps < kStepsOfPiece;) {
    const std::size_t before = steps;
    walk.next = call.node.locks().scan(walk.next, stride.keys(), [&](const Lock& lock) {
      steps += kStepsOfKey;
      if (lock.is_over(call.instant()) || !matches(call.word(1), lock.key(), steps)) return;
      if (!call.may_see(lock.key())) return;
      walk.found.add(Reply::bulk(std::string(lock.key())));
    });
    if (walk.next == 0) return std::move(walk.found);
    stride.adapt(steps - before);
  }
  if (call.from_script || call.in_transaction) {
    return Reply::error_view(
        "ERR KEYS would hold everybody up, as nothing comes between the commands of a script or a "
        "transaction: use SCAN");
  }
  call.node.walks().keep(call.session, std::move(walk));
  return call.node.turns().in_next_turn(call.session, call.instant());
}

// SCAN cursor [MATCH pattern] [COUNT count] [TYPE type]
struct ScanOptions {
  std::optional<std::string_view> pattern;
  std::optional<std::string_view> type;
  std::size_t count = 10;
};

Refusal read_scan_options(Request words, ScanOptions& options) {
  for (std::size_t i = 2; i < words.size(); i += 2) {
    if (i + 1 == words.size()) return Reply::error_view(kSyntaxError);
    const std::string_view value = words[i + 1];
    if (equals_ignoring_case(words[i], "COUNT")) {
      const auto count = parse_int64(value);
      if (!count) return Reply::error_view(kNotAnInteger);
      if (*count < 1) return Reply::error_view(kSyntaxError);
      options.count = static_cast<std::size_t>(*count);
    } else if (equals_ignoring_case(words[i], "MATCH")) {
      options.pattern = value;
    } else if (equals_ignoring_case(words[i], "TYPE")) {
      options.type = value;
    } else {
      return Reply::error_view(kSyntaxError);
    }
  }
  return std::nullopt;
}

// As C reads an unsigned number, which Redis does: "-1" is a cursor too, behind all keys.
std::optional<std::uint64_t> read_cursor(std::string_view word) {
  const std::string text(word);
  if (std::isspace(static_cast<unsigned char>(text[0])) != 0) return std::nullopt;
  char* end = nullptr;
  errno = 0;
  const std::uint64_t cursor = std::strtoull(text.c_str(), &end, 10);
  if (*end != '\0' || errno == ERANGE) return std::nullopt;
  return cursor;
}

bool is_wanted(const ScanOptions& options, const Lock& lock, Instant now, std::size_t& steps) {
  if (lock.is_over(now)) return false;
  if (options.pattern && !matches(*options.pattern, lock.key(), steps)) return false;
  return !options.type || equals_ignoring_case(*options.type, kind_name(lock.kind()));
}

// As many as are asked for, or a piece of them: COUNT is a wish. Returns where to go on.
std::uint32_t scan_some(const Call& call, std::uint32_t next, const ScanOptions& options,
                        Reply& found) {
  std::size_t left = options.count;
  std::size_t steps = 0;
  Stride stride;
  do {
    const std::size_t before = steps;
    const std::size_t part = std::min(left, stride.keys());
    next = call.node.locks().scan(next, part, [&](const Lock& lock) {
      steps += kStepsOfKey;
      if (!is_wanted(options, lock, call.instant(), steps) || !call.may_see(lock.key())) return;
      found.add(Reply::bulk_view(lock.key()));
    });
    left -= part;
    stride.adapt(steps - before);
  } while (next != 0 && left > 0 && steps < kStepsOfPiece);
  return next;
}

// The cursor is a place in the order of the keys' hashes: what is there from the first call to the
// last is told just once, whatever comes and goes meanwhile.
Reply scan(Call& call) {
  const auto cursor = read_cursor(call.word(1));
  if (!cursor) return Reply::error_view("ERR invalid cursor");
  ScanOptions options;
  if (Refusal no = read_scan_options(call.words, options)) return no;
  Reply found = Reply::array();
  std::uint32_t next = 0;
  if (*cursor <= std::numeric_limits<std::uint32_t>::max()) {
    next = scan_some(call, static_cast<std::uint32_t>(*cursor), options, found);
  }
  Reply answer = Reply::array();
  answer.add(Reply::bulk(std::to_string(next))).add(std::move(found));
  return answer;
}

// One of the few that follow a random place in the order of the hashes; where none of them lives,
// of the few behind them.
Reply randomkey(Call& call) {
  constexpr std::size_t kSample = 16;
  Node& node = call.node;
  std::uint32_t place = static_cast<std::uint32_t>(node.random()());
  bool wrapped = false;
  std::vector<std::string_view> sample;
  while (sample.empty()) {
    const std::uint32_t next = node.locks().scan(place, kSample, [&](const Lock& lock) {
      if (!lock.is_over(call.instant())) sample.push_back(lock.key());
    });
    if (next == 0 && wrapped) break;
    wrapped |= next == 0;
    place = next;
  }
  if (sample.empty()) return Reply::null();
  return Reply::bulk(std::string(sample[node.random().below(sample.size())]));
}

// Frees every lock at once, whoever holds it. ASYNC and SYNC are the same here.
Reply flush(Call& call) {
  if (call.words.size() > 2) return Reply::error_view(kSyntaxError);
  if (call.words.size() == 2 && !equals_ignoring_case(call.word(1), "SYNC") &&
      !equals_ignoring_case(call.word(1), "ASYNC")) {
    return Reply::error_view(kSyntaxError);
  }
  LockBreaks& breaks = call.node.breaks();
  if (breaks.are_watched()) {
    if (Refusal no = breaks.refuse_all(call.node.breaker_of(call, {}), call.now)) return no;
  }
  call.node.grants().release_all();
  return Reply::ok();
}

constexpr Command kKeyspaceCommands[] = {
    {{"dbsize", 1, kReadOnly | kFast, 0, 0, 0, "server", "1.0.0", "Answers how many keys exist.",
      ""},
     dbsize},
    {{"keys", 2, kReadOnly | kTimed, 0, 0, 0, "generic", "1.0.0",
      "Answers all keys that match a pattern.", "pattern"},
     keys},
    {{"scan", -2, kReadOnly | kTimed, 0, 0, 0, "generic", "2.8.0",
      "Answers all keys, a part a call.", "cursor [MATCH pattern] [COUNT count] [TYPE type]"},
     scan},
    {{"randomkey", 1, kReadOnly, 0, 0, 0, "generic", "1.0.0", "Answers a random key.", ""},
     randomkey},
    {{"flushall", -1, kWrite | kTimed, 0, 0, 0, "server", "1.0.0",
      "Deletes all keys: every lock is free, whoever holds it.", "[ASYNC|SYNC]"},
     flush},
    {{"flushdb", -1, kWrite | kTimed, 0, 0, 0, "server", "1.0.0",
      "Deletes all keys: every lock is free, whoever holds it.", "[ASYNC|SYNC]"},
     flush},
};

}  // namespace

Family keyspace_commands() {
  return kKeyspaceCommands;
}

}  // namespace redlock::server
