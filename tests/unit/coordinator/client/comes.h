// What another thread brings about.
#pragma once

#include <chrono>
#include <thread>

namespace redlock {

constexpr std::chrono::seconds kSoon{15};  // what is to come comes long before

// Whether the condition comes true soon.
template <typename Condition>
bool comes(Condition&& condition) {
  using namespace std::chrono_literals;
  const auto end = std::chrono::steady_clock::now() + kSoon;
  while (!condition() && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(1ms);
  return condition();
}

}  // namespace redlock
