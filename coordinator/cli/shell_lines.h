// What `eval "$(redlock acquire NAME)"` and `eval "$(redlock extend NAME)"` hand to a shell.
//
// `eval` ends with the status of what it evaluates, and so with 0 where that is nothing. A failure
// therefore prints a line as well: it takes away the variables of an earlier lock, and ends with
// the exit status of the subcommand. Then `set -e`, `||` and `if` see the failure through the eval.
//
// Each line is whole by itself, in sh, bash, dash, zsh and busybox, also when an eval without
// quotes puts them all into one.
#pragma once

#include "base/time.h"
#include <redlock/client.h>

#include <array>
#include <cstdint>
#include <string>

namespace redlock::coordinator {

// Seconds since the machine began, counted as CLOCK_BOOTTIME does, in the very form of the first
// field of /proc/uptime: two digits after the point, rounded down. That field is rounded down too,
// by less than a hundredth, so a lock is valid as long as the field is less than the text
// of its valid_until.
std::string uptime_text(Duration since_boot);
// The same for JSON: 12345.67.
double uptime_seconds(Duration since_boot);

// acquire: the value, the token (empty where there is none: one of an earlier lock must not be
// taken for this lock's), and the validity.
std::string lock_lines(const Lock& lock, Duration validity_left);
// extend: the new validity.
std::string validity_lines(const Lock& lock, Duration validity_left);

// What validity_lines exports.
inline constexpr std::array kValidityVariables = {"REDLOCK_VALIDITY_MS", "REDLOCK_VALID_UNTIL"};

// What is over for the shell after a failure: only what the subcommand was to do, or the lock of
// its variables as well.
enum class Over : std::uint8_t { the_subcommand, the_lock };

// The line of a failure, which ends with `exit_code`.
std::string failure_line(Over over, int exit_code);

}  // namespace redlock::coordinator
