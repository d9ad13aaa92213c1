// What a differential test plays: steps, each one request of one client, as text and back.
//
// The text is that of tests/transcript: `> SET k v`, `b> GET k` for a second client, `wait 20ms`.
// Three words mean more than they say, so that a text can be replayed at any time:
//
//   "<in 3600000ms>", "<in -10s>"   a moment counted from now, as a Unix time in ms or s
//   "<to the end>"                  SCAN's cursor: the scan is done until it answers 0
//
// `bytes> "*1\r\n…"` sends these bytes as they are, on a connection of their own.
#pragma once

#include "base/time.h"
#include "protocol/resp/request.h"
#include <redlock/result.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::differential {

using Words = std::vector<std::string>;

struct Step {
  std::string client;  // "": the first one
  Words words;         // a request; of is_bytes: the bytes, as one word
  Duration wait{};     // after the answer, for both servers alike
  bool is_bytes = false;

  friend bool operator==(const Step&, const Step&) = default;
};

using Sequence = std::vector<Step>;

inline constexpr std::string_view kToTheEnd = "<to the end>";
inline constexpr std::string_view kBytes = "bytes";

std::string write_step(const Step& step);
std::string write_sequence(const Sequence& sequence);
// Takes requests and waits; leaves out comments and answers.
Result<Sequence> read_sequence(std::string_view text);

std::string moment_in_ms(std::int64_t ms_from_now);
std::string moment_in_s(std::int64_t s_from_now);
// The number before `unit` in "<in 10ms>", "<in -3s>": unit is "ms>" or "s>".
std::optional<std::int64_t> moment_of(std::string_view word, std::string_view unit);
// The words as they are sent at this moment.
Words at_moment(const Words& words, Duration since_epoch);

std::string lower_case(std::string_view text);
std::vector<std::string_view> views(const Words& words);

}  // namespace redlock::differential
