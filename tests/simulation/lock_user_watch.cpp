// What a client may count on of the operations and of the clocks that it uses.
#include "tests/simulation/lock_user.h"

#include <algorithm>

#include <fmt/format.h>

namespace redlock::simulation {
namespace {

// What an operation may end late by, besides its own timeouts.
constexpr Duration kLateMax = 100ms;

}  // namespace

// By the world's time, in which a client's clock is never slow. It may have much to do at once when
// it goes on after a pause.
std::function<void()> LockUser::must_end_within(Duration time, std::string_view what) {
  const std::uint64_t watch = ++last_watch_;
  watched_.insert(watch);
  const auto look = [=, this, life = life_](const auto& again, TrueTime since) -> void {
    if (life != life_ || !watched_.contains(watch) || !world_.scenario.clocks_hold) return;
    // Where the nodes have changed it was begun anew.
    const TrueTime began = std::max(went_on_at_, adopted_at_);
    if (is_paused() || began > since) {
      const TrueTime from = std::max(paused_until_, began);
      return agenda_.at(from + time + kLateMax, [=] { again(again, from); });
    }
    world_.referee.found(Breach::late, fmt::format("client {}: its {} has not ended after {} ms",
                                                   number_, what, ceil_ms(time)));
  };
  agenda_.after(time + kLateMax, [=, since = agenda_.now()] { look(look, since); });
  return [=, this] { watched_.erase(watch); };
}

void LockUser::check_awake(const Held& held) {
  const bool has_slept = slept_ - held.slept > coordinator::SuspendWatch::kTolerance;
  if (!has_slept || held.keeper->loss()) return;
  world_.referee.found(Breach::asleep,
                       fmt::format("client {} counts on key {}, and its machine slept for {} ms",
                                   number_, held.wanted.key, floor_ms(slept_ - held.slept)));
}

}  // namespace redlock::simulation
