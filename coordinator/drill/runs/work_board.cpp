#include "coordinator/drill/runs/work_board.h"

#include "base/invariant.h"
#include "base/net/turn/clock.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

namespace redlock::drill {

// All zeros are a cell in which nobody began: what a file is that was only made longer.
struct WorkBoard::Cell {
  std::atomic<Duration::rep> first;
  std::atomic<Duration::rep> last;
  std::atomic<std::uint64_t> token;
};

struct WorkBoard::Page {
  std::atomic<std::uint64_t> is_over;
};

static_assert(std::atomic<Duration::rep>::is_always_lock_free, "a lock would need an owner");

namespace {

Failure failure(const std::string& path, int error) {
  return {fmt::format("{}: {}", path, std::strerror(error))};
}

Duration::rep now() {
  return net::holder_now().time_since_epoch().count();
}

}  // namespace

Result<WorkBoard> WorkBoard::make(const std::string& path, std::size_t runs) {
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  const auto bytes = static_cast<off_t>(sizeof(Page) + runs * sizeof(Cell));
  if (file < 0 || ftruncate(file, bytes) != 0) {
    const int error = errno;
    if (file >= 0) close(file);
    return failure(path, error);
  }
  return map(path, file, runs);
}

Result<WorkBoard> WorkBoard::open(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  struct stat found {};
  if (file < 0 || fstat(file, &found) != 0) return failure(path, errno);
  return map(path, file, (static_cast<std::size_t>(found.st_size) - sizeof(Page)) / sizeof(Cell));
}

Result<WorkBoard> WorkBoard::map(const std::string& path, int file, std::size_t runs) {
  const std::size_t bytes = sizeof(Page) + runs * sizeof(Cell);
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  const int error = errno;
  close(file);
  if (memory == MAP_FAILED) return failure(path, error);
  return WorkBoard(memory, bytes, runs);
}

WorkBoard::~WorkBoard() {
  if (memory_ != nullptr) munmap(memory_, bytes_);
}

WorkBoard::WorkBoard(WorkBoard&& other) noexcept
    : memory_(std::exchange(other.memory_, nullptr)), bytes_(other.bytes_), runs_(other.runs_) {}

WorkBoard::Page& WorkBoard::page() const {
  return *static_cast<Page*>(memory_);
}

WorkBoard::Cell& WorkBoard::cell(std::size_t run) const {
  INVARIANT(run < runs_, "a run that the board has no room for");
  return reinterpret_cast<Cell*>(static_cast<char*>(memory_) + sizeof(Page))[run];
}

void WorkBoard::begin(std::size_t run, std::uint64_t token) {
  Cell& cell = this->cell(run);
  cell.token = token;
  cell.last = now();
  cell.first = cell.last.load();
}

// Several processes beat: the latest counts.
void WorkBoard::beat(std::size_t run) {
  std::atomic<Duration::rep>& last = cell(run).last;
  const Duration::rep beat = now();
  Duration::rep before = last;
  while (before < beat && !last.compare_exchange_weak(before, beat)) continue;
}

std::optional<WorkBoard::Work> WorkBoard::work_of(std::size_t run) const {
  const Cell& cell = this->cell(run);
  if (cell.first == 0) return std::nullopt;
  return Work{Instant(Duration(cell.first)), Instant(Duration(cell.last)), cell.token};
}

void WorkBoard::end_all() {
  page().is_over = 1;
}

bool WorkBoard::is_over() const {
  return page().is_over != 0;
}

}  // namespace redlock::drill
