// What another thread brings about.
#pragma once

#include <chrono>
#include <thread>

namespace redlock {

// Whether the condition comes true within 15 s; what is to come comes long before.
template <typename Condition>
bool comes(Condition&& condition) {
  using namespace std::chrono_literals;
  const auto end = std::chrono::steady_clock::now() + 15s;
  while (!condition() && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(1ms);
  return condition();
}

}  // namespace redlock
