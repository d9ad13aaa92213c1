#include "base/net/process/forks.h"

#include <atomic>
#include <mutex>
#include <pthread.h>
#include <utility>
#include <vector>

namespace redlock::net {
namespace {

std::atomic<std::uint64_t> forks = 0;
std::once_flag watched;

std::mutex left_alone_mutex;
// Never ended either: whoever looks for leaks finds what it holds.
auto* const left_alone = new std::vector<std::shared_ptr<void>>;

}  // namespace

void leave_alone(std::shared_ptr<void> object) {
  const std::lock_guard lock(left_alone_mutex);
  left_alone->push_back(std::move(object));
}

ForkMark::ForkMark() {
  std::call_once(watched, [] { pthread_atfork(nullptr, nullptr, [] { ++forks; }); });
  forks_ = forks.load();
}

bool ForkMark::is_in_child() const {
  return forks_ != forks.load(std::memory_order_relaxed);
}

}  // namespace redlock::net
