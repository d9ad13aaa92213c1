#include "coordinator/cli/shell_lines.h"

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::coordinator;

TEST_CASE("an instant is told as /proc/uptime tells the present, rounded down") {
  CHECK(uptime_text(12345s) == "12345.00");
  CHECK(uptime_text(12345s + 679ms) == "12345.67");
  CHECK(uptime_text(12345s + 69'999'999ns) == "12345.06");
  CHECK(uptime_text(9ms) == "0.00");
  CHECK(uptime_seconds(12345s + 679ms) == 12345.67);
}

TEST_CASE("acquire's lines set every variable, the token too where there is none") {
  Lock lock{.name = "printer", .value = "secret"};
  lock.valid_until = 100s + 567ms;
  lock.token = 34;
  CHECK(lock_lines(lock, 9'897ms) ==
        "export REDLOCK_VALUE=secret\nexport REDLOCK_TOKEN=34\n"
        "export REDLOCK_VALIDITY_MS=9897\nexport REDLOCK_VALID_UNTIL=100.56\n");
  lock.token = 0;
  CHECK_THAT(lock_lines(lock, 0ns), Catch::Contains("\nexport REDLOCK_TOKEN=\n"));
}

TEST_CASE("a failure's line ends with the status, and takes away the lock if that is over") {
  CHECK(failure_line(Over::the_subcommand, 69) == "(exit 69)\n");
  CHECK(failure_line(Over::the_lock, 75) ==
        "unset REDLOCK_VALUE REDLOCK_TOKEN REDLOCK_VALIDITY_MS REDLOCK_VALID_UNTIL; (exit 75)\n");
}
