#include "coordinator/drill/runs/work_board.h"

#include "base/net/turn/clock.h"

#include <cstdio>
#include <filesystem>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

namespace redlock::drill {
namespace {

struct BoardFile {
  BoardFile() { std::filesystem::remove(path); }
  ~BoardFile() { std::filesystem::remove(path); }
  const std::string path =
      std::filesystem::temp_directory_path() / ("redlock-board." + std::to_string(getpid()));
};

TEST_CASE("the board tells of the first and the last beat, also of a process that is dead") {
  const BoardFile file;
  const auto board = WorkBoard::make(file.path, 3);
  REQUIRE(board);
  const Instant before = net::read_clock(net::ClockKind::boottime);
  const pid_t command = fork();
  if (command == 0) {
    auto its = WorkBoard::open(file.path);
    if (!its || its.value().runs() != 3) _exit(1);
    its.value().begin(1, 7);
    usleep(2000);
    its.value().beat(1);
    _exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(command, &status, 0) == command);
  REQUIRE(status == 0);
  const auto work = board.value().work_of(1);
  REQUIRE(work);
  CHECK(work->token == 7);
  CHECK(work->first >= before);
  CHECK(work->last >= work->first + 2ms);
  CHECK(work->last <= net::read_clock(net::ClockKind::boottime));
  CHECK_FALSE(board.value().work_of(0));
  CHECK_FALSE(board.value().work_of(2));
}

TEST_CASE("all who look at the board see that it is over") {
  const BoardFile file;
  auto board = WorkBoard::make(file.path, 1);
  const auto other = WorkBoard::open(file.path);
  REQUIRE((board && other));
  CHECK_FALSE(other.value().is_over());
  board.value().end_all();
  CHECK(other.value().is_over());
  CHECK_FALSE(WorkBoard::make(file.path, 1));
}

}  // namespace
}  // namespace redlock::drill
