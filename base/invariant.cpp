#include "base/invariant.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace redlock {

namespace {

std::atomic<void (*)(const char*)> teller = nullptr;

void tell_on_standard_error(const char* text) {
  std::fprintf(stderr, "%s\n", text);
}

}  // namespace

void tell_broken_invariants(void (*tell)(const char* text)) {
  teller = tell;
}

void invariant_failed(const char* file, int line, const char* condition, const char* text) {
  constexpr std::size_t kTextBytesMax = 1024;
  char whole[kTextBytesMax];
  std::snprintf(whole, sizeof whole, "%s:%d: broken invariant: %s (%s)", file, line, text,
                condition);
  const auto tell = teller.exchange(nullptr);  // its own broken invariants come out plainly
  (tell != nullptr ? tell : tell_on_standard_error)(whole);
  std::abort();
}

}  // namespace redlock
