#include "tests/differential/differences_document.h"

#include "tests/differential/comparison.h"
#include "tests/differential/generator.h"
#include "tests/differential/newer_commands.h"
#include "tests/differential/wanted_differences.h"

#include <fmt/format.h>

namespace redlock::differential {
namespace {

constexpr std::string_view kBegin = R"(# Where redlock-node differs from Redis 7.0

Made by `redlock-differential --document` from the tables of the test itself; do not edit it here.

`./dev differential` plays generated requests to redlock-node and redis-server 7.0 side by side, in
RESP2 and RESP3, and compares every reply byte for byte. What stands below is the whole list of
exceptions. Both are set up alike for it: the node has `require-ttl no` and the largest `max-ttl`,
Redis one database and `proto-max-bulk-len 16mb`. With its defaults a node refuses, on purpose, what
would leave a key without a deadline ([safety.md](safety.md)), and values above 64 KB
(`value-size-limit`). It closes a client for a reply of more than 64 MB, and answers COMMAND INFO for
no more names than there are commands.

No client holds up the others ([security.md](security.md)), so some of what Redis does at one instant
is done in pieces: KEYS of many keys answers what was there all the time, and what came or went
meanwhile or not; in a script or a transaction it is refused. SUBSCRIBE and its siblings confirm
1,024 names at a time, and messages may come between. SCAN may look at fewer keys than COUNT
says. PUBLISH in a script or a transaction counts the listeners that it told at once; the rest are
told behind it. A request has 16,384 words at most, a script 64 KB (`script-size-limit`); a glob that
takes 262,144 steps does not match, and CONFIG GET and COMMAND LIST refuse patterns that take 2 million
with all names. In scripts no table is weak (`__mode`), a table with a metatable is none itself, and what
cannot be suspended is ended 20 ms after busy-reply-threshold; a call of `string.format` has 1,000
conversions at most, a script's reply 32,768 items, its error 64 KB.
)";

constexpr std::string_view kNewer = R"(
## Newer than Redis 7.0

These are compared with what their documentation says, written as a script over older commands.

)";

constexpr std::string_view kLoose = R"(
## Compared by a rule

Clocks, hash orders and a server's own person are in these replies.

| command | the two replies are |
| --- | --- |
| ACL CAT category | the same commands, of those that both have |
| SCAN | the same names from the first cursor to the last |
| MONITOR | the same lines but for moment and address; a refused HELLO's password is never shown |
| messages that a client's own request brings it | the same, before or behind the reply |
| the event `expired` | the same, at once or when somebody looks |
)";

constexpr std::string_view kNot = R"(
## Not compared

| command | why |
| --- | --- |
)";

// Of a command; what stands in brackets is none.
std::string upper(std::string_view name) {
  if (name.starts_with('(')) return std::string(name);
  std::string text;
  for (const char c : name) {
    text += c == '|' ? ' ' : c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  }
  return text;
}

std::string entry(const WantedDifference& difference) {
  std::string text = fmt::format("\n### {}\n\n{}\n\n```\n", difference.subject, difference.why);
  std::string_view requests = difference.example;
  while (!requests.empty()) {
    const std::size_t end = std::min(requests.find("; "), requests.size());
    text += fmt::format("> {}\n", requests.substr(0, end));
    requests.remove_prefix(std::min(end + 2, requests.size()));
  }
  if (difference.node != kTooLong) {
    text += fmt::format("node:  {}\nredis: {}\n", difference.node, difference.redis);
  }
  return text + "```\n";
}

}  // namespace

std::string differences_document() {
  std::string text(kBegin);
  text += "\n## Answered otherwise\n";
  for (const WantedDifference& difference : wanted_differences()) text += entry(difference);
  text += kNewer;
  for (const NewerForm& form : newer_forms())
    text += fmt::format("- `{}` ({})\n", form.form, form.since);
  text += kLoose;
  for (const LooseRule& loose : loose_rules()) {
    text += fmt::format("| {} | {} |\n", upper(loose.name), rule_text(loose.rule));
  }
  text += kNot;
  for (const NotCompared& other : not_compared()) {
    text += fmt::format("| {} | {} |\n", upper(other.name), other.why);
  }
  return text;
}

}  // namespace redlock::differential
