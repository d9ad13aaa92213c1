#include "base/net/forks.h"

#include <atomic>
#include <mutex>
#include <pthread.h>

namespace redlock::net {
namespace {

std::atomic<std::uint64_t> forks = 0;
std::once_flag watched;

}  // namespace

ForkMark::ForkMark() {
  std::call_once(watched, [] { pthread_atfork(nullptr, nullptr, [] { ++forks; }); });
  forks_ = forks.load();
}

bool ForkMark::is_in_child() const {
  return forks_ != forks.load(std::memory_order_relaxed);
}

}  // namespace redlock::net
