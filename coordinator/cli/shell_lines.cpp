#include "coordinator/cli/shell_lines.h"

#include <ratio>

#include <fmt/format.h>

namespace redlock::coordinator {
namespace {

using Hundredths = std::chrono::duration<std::int64_t, std::centi>;

Hundredths hundredths(Duration since_boot) {
  return std::chrono::floor<Hundredths>(since_boot);
}

}  // namespace

std::string uptime_text(Duration since_boot) {
  const std::int64_t count = hundredths(since_boot).count();
  return fmt::format("{}.{:02}", count / 100, count % 100);
}

double uptime_seconds(Duration since_boot) {
  return static_cast<double>(hundredths(since_boot).count()) / 100.0;
}

std::string lock_lines(const Lock& lock, Duration validity_left) {
  return fmt::format("export REDLOCK_VALUE={}\nexport REDLOCK_TOKEN={}\n{}", lock.value,
                     lock.token > 0 ? std::to_string(lock.token) : std::string(),
                     validity_lines(lock, validity_left));
}

std::string validity_lines(const Lock& lock, Duration validity_left) {
  return fmt::format("export REDLOCK_VALIDITY_MS={}\nexport REDLOCK_VALID_UNTIL={}\n",
                     floor_ms(validity_left), uptime_text(lock.valid_until));
}

std::string failure_line(Over over, int exit_code) {
  const char* forgets =
      over == Over::the_lock
          ? "unset REDLOCK_VALUE REDLOCK_TOKEN REDLOCK_VALIDITY_MS REDLOCK_VALID_UNTIL; "
          : "";
  return fmt::format("{}(exit {})\n", forgets, exit_code);
}

}  // namespace redlock::coordinator
