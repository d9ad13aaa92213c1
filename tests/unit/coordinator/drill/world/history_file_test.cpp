// Histories on the disk: several processes write one, and it is read in one piece.
#include "coordinator/drill/world/history_file.h"

#include "tests/support/temporary_folder.h"

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fmt/format.h>

namespace redlock::drill {
namespace {

TEST_CASE("lines of several processes stand whole in one file") {
  constexpr int kProcesses = 4;
  constexpr int kEvents = 500;
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/history.jsonl";
  REQUIRE(HistoryWriter::open(path).value().write(HistoryHeader{.title = "many hands"}));
  std::vector<pid_t> children;
  for (int i = 0; i < kProcesses; ++i) {
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child != 0) {
      children.push_back(child);
      continue;
    }
    auto writer = HistoryWriter::open(path);
    bool is_written = static_cast<bool>(writer);
    for (int event = 0; is_written && event < kEvents; ++event) {
      is_written = static_cast<bool>(writer.value().write(Event{.at = Instant(Duration(event)),
                                                                .who = fmt::format("client {}", i),
                                                                .what = What::asks,
                                                                .lock = "a"}));
    }
    _exit(is_written ? 0 : 1);
  }
  for (const pid_t child : children) {
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
  }
  const auto history = read_history({path});
  INFO(history.error().text);
  REQUIRE(history);
  CHECK(history.value().events.size() == std::size_t{kProcesses} * kEvents);
  CHECK(history.value().unfinished_lines == 0);
}

TEST_CASE("a file that cannot be written or read is named") {
  CHECK_THAT(HistoryWriter::open("/nowhere/x.jsonl").error().text,
             Catch::StartsWith("/nowhere/x.jsonl: cannot be opened: No such file"));
  CHECK_THAT(read_history({"/nowhere/x.jsonl"}).error().text,
             Catch::StartsWith("/nowhere/x.jsonl: cannot be opened: No such file"));
  auto full = HistoryWriter::open("/dev/full");
  REQUIRE(full);
  CHECK_THAT(full.value().write(Event{.who = "client 1", .what = What::started}).error().text,
             Catch::StartsWith("/dev/full: cannot be written: No space left"));
}

}  // namespace
}  // namespace redlock::drill
