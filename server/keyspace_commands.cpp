// DBSIZE, KEYS, SCAN, RANDOMKEY, FLUSHALL, FLUSHDB: about all keys.
#include "base/number.h"
#include "protocol/errors.h"
#include "protocol/glob.h"
#include "server/command.h"
#include "server/node.h"

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
bool matches(std::string_view pattern, std::string_view key) {
  return pattern == "*" || glob_matches(pattern, key);
}

Reply keys(Call& call) {
  Reply found = Reply::array();
  call.node.locks().for_each([&](const Lock& lock) {
    if (lock.is_over(call.instant()) || !matches(call.word(1), lock.key())) return;
    found.add(Reply::bulk(std::string(lock.key())));
  });
  return found;
}

// SCAN cursor [MATCH pattern] [COUNT count] [TYPE type]
struct ScanOptions {
  std::optional<std::string_view> pattern;
  std::optional<std::string_view> type;
  std::size_t count = 10;
};

std::optional<Reply> read_scan_options(Request words, ScanOptions& options) {
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

bool is_wanted(const ScanOptions& options, const Lock& lock, Instant now) {
  if (lock.is_over(now)) return false;
  if (options.pattern && !matches(*options.pattern, lock.key())) return false;
  return !options.type || equals_ignoring_case(*options.type, kind_name(lock.kind()));
}

// The cursor is a place in the order of the keys' hashes: what is there from the first call to the
// last is told just once, whatever comes and goes meanwhile.
Reply scan(Call& call) {
  const auto cursor = read_cursor(call.word(1));
  if (!cursor) return Reply::error_view("ERR invalid cursor");
  ScanOptions options;
  if (auto refusal = read_scan_options(call.words, options)) return std::move(*refusal);
  Reply found = Reply::array();
  std::uint32_t next = 0;
  if (*cursor <= std::numeric_limits<std::uint32_t>::max()) {
    next = call.node.locks().scan(static_cast<std::uint32_t>(*cursor), options.count,
                                  [&](const Lock& lock) {
                                    if (!is_wanted(options, lock, call.instant())) return;
                                    found.add(Reply::bulk(std::string(lock.key())));
                                  });
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
  call.node.stats().released += call.node.locks().size();
  call.node.locks().clear();
  return Reply::ok();
}

constexpr Command kCommands[] = {
    {{"dbsize", 1, kReadOnly | kFast, 0, 0, 0, "server", "1.0.0", "Answers how many keys exist.",
      ""},
     dbsize},
    {{"keys", 2, kReadOnly | kTimed, 0, 0, 0, "generic", "1.0.0",
      "Answers all keys that match a pattern; holds everybody up while it looks.", "pattern"},
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

std::span<const Command> keyspace_commands() {
  return kCommands;
}

}  // namespace redlock::server
