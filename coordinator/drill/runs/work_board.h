// WorkBoard: when the command of each `redlock run` of a drill worked first and last, as told by
// itself: a file that all its processes map. A process that is killed has nobody to tell, and a
// message could be on its way for long; what stands on the board is true whoever looks, and when.
//
//   auto board = WorkBoard::make(path, runs);   // the drill
//   auto board = WorkBoard::open(path);         // each command
//   board.value().begin(run, token);
//   while (…) board.value().beat(run);
//
// Times are on CLOCK_BOOTTIME. A beat reads the clock and then writes: one that is stopped in
// between tells an earlier time than its last, never a later one.
//
// Thread safety: all of it, from any process.
#pragma once

#include "base/time.h"
#include <redlock/result.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace redlock::drill {

class WorkBoard {
 public:
  struct Work {
    Instant first;
    Instant last;
    std::uint64_t token;  // 0: none
  };

  // Room for so many runs; the file takes place on the disk as they come.
  static Result<WorkBoard> make(const std::string& path, std::size_t runs);
  static Result<WorkBoard> open(const std::string& path);
  ~WorkBoard();
  WorkBoard(WorkBoard&& other) noexcept;
  WorkBoard& operator=(WorkBoard&&) = delete;

  std::size_t runs() const { return runs_; }

  // By the command's own process, once, before any beat. REQUIRES of all: run < runs().
  void begin(std::size_t run, std::uint64_t token);
  // By all of its processes.
  void beat(std::size_t run);
  // nullopt: it never began.
  std::optional<Work> work_of(std::size_t run) const;

  // All commands are to end: the drill is over.
  void end_all();
  bool is_over() const;

 private:
  struct Cell;
  struct Page;
  WorkBoard(void* memory, std::size_t bytes, std::size_t runs)
      : memory_(memory), bytes_(bytes), runs_(runs) {}
  static Result<WorkBoard> map(const std::string& path, int file, std::size_t runs);
  Cell& cell(std::size_t run) const;
  Page& page() const;

  void* memory_;
  std::size_t bytes_;
  std::size_t runs_;
};

}  // namespace redlock::drill
