// The words of a setting and its value: how each kind is read and how CONFIG GET prints it.
//
// A reader says what is wrong in Redis's own words where Redis has such a kind, as clients and
// tests know them ("argument must be 'yes' or 'no'"). Printed forms are Redis's too, so that tools
// which read CONFIG GET keep working: yes or no, plain numbers, bytes.
#pragma once

#include "base/time.h"
#include "server/settings/settings.h"
#include <redlock/result.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::server {

// What a line did besides its work.
struct Applied {
  std::string warning;  // for the operator; empty: nothing to say
  // Not empty: a directive of Redis that does nothing here, and why (static text). It is accepted
  // so that an existing file starts.
  std::string_view meaningless;
};

Result<bool> read_yes_no(std::string_view word);
std::string yes_no_text(bool value);

Result<std::int64_t> read_integer(std::string_view word, std::int64_t low, std::int64_t high);

// File modes: 0 to 777, octal.
Result<std::uint32_t> read_octal(std::string_view word);
std::string octal_text(std::uint32_t mode);

// "100", "100b", "1k" (1000), "1kb" (1024), and so on to gb; upper case too.
Result<std::uint64_t> read_memory(std::string_view word);

// A duration within low to high; a plain number counts in `unit` (Redis has seconds here and
// milliseconds there), one with a unit says its own.
Result<Duration> read_duration(std::string_view word, Duration unit, Duration low, Duration high);

// The same for Redis's own names: what is no duration at all is told in Redis's words.
Result<Duration> read_redis_duration(std::string_view word, Duration unit, Duration low,
                                     Duration high);

// A number above 0, at most `high`, such as 0.01.
Result<double> read_share(std::string_view word, double high);
std::string share_text(double value);

// The index of the name that the word is, in any case.
Result<std::size_t> read_choice(std::string_view word, std::span<const std::string_view> names);

// The pieces between blanks, as CONFIG SET splits the value of a list.
std::vector<std::string> split_blanks(std::string_view text);

// client-output-buffer-limit, of the classes normal and pubsub; a node has no replicas.
struct OutputLimits {
  OutputLimit normal;
  OutputLimit listener;
};
// "64mb" for all, or Redis's form: CLASS HARD SOFT SECONDS, several times. What the words do not
// name stays as it was.
Result<OutputLimits> read_output_limits(const std::vector<std::string>& words, OutputLimits before);
std::string output_limits_text(const OutputLimits& limits);

Result<RestartDelay> read_restart_delay(std::string_view word);
std::string restart_delay_text(const RestartDelay& delay);

}  // namespace redlock::server
