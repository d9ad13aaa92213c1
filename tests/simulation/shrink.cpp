#include "tests/simulation/shrink.h"

#include <algorithm>
#include <utility>

namespace redlock::simulation {
namespace {

class Shrinker {
 public:
  Shrinker(Scenario scenario, Breach breach, const std::function<void(const Scenario&)>& progress)
      : best_(std::move(scenario)), breach_(breach), progress_(progress) {}

  Shrunk shrink() {
    bool is_simpler = true;
    while (is_simpler) {
      is_simpler = end_early();
      is_simpler = simplify_settings() || is_simpler;
      is_simpler = leave_out_events() || is_simpler;
      is_simpler = simplify_events() || is_simpler;
    }
    Outcome outcome = run(best_, Story::Telling::events);
    return {std::move(best_), std::move(outcome), runs_};
  }

 private:
  // Takes it if it still fails in the same way: by the same chances, or by some others, as what is
  // left out may shift them.
  bool attempt(const Scenario& candidate) {
    if (candidate == best_) return false;
    for (std::uint64_t more = 0; more < kChances; ++more) {
      Scenario other = candidate;
      other.seed += more;
      if (attempt_once(std::move(other))) return true;
    }
    return false;
  }

  bool attempt_once(Scenario candidate) {
    ++runs_;
    const Outcome outcome = run(candidate, Story::Telling::nothing);
    if (!outcome.violation || outcome.violation->breach != breach_) return false;
    best_ = std::move(candidate);
    progress_(best_);
    return true;
  }

  // What comes after the violation cannot have caused it.
  bool end_early() {
    const Outcome outcome = run(best_, Story::Telling::nothing);
    const TrueTime end = outcome.violation ? outcome.violation->when : TrueTime(best_.length);
    Scenario candidate = best_;
    std::erase_if(candidate.events, [end](const Event& event) { return event.at > end; });
    return attempt(candidate);
  }

  bool leave_out_events() {
    bool is_simpler = false;
    for (std::size_t chunk = std::max<std::size_t>(best_.events.size() / 2, 1); chunk > 0;
         chunk /= 2) {
      for (std::size_t at = 0; at < best_.events.size();) {
        if (attempt(without(at, chunk))) {
          is_simpler = true;
        } else {
          at += chunk;
        }
      }
    }
    return is_simpler;
  }

  Scenario without(std::size_t at, std::size_t count) const {
    Scenario candidate = best_;
    const auto begin = candidate.events.begin() + static_cast<std::ptrdiff_t>(at);
    const auto end = candidate.events.begin() +
                     static_cast<std::ptrdiff_t>(std::min(at + count, candidate.events.size()));
    candidate.events.erase(begin, end);
    return candidate;
  }

  bool attempt_with(const std::function<void(Scenario&)>& change) {
    Scenario candidate = best_;
    change(candidate);
    return attempt(candidate);
  }

  bool simplify_settings() {
    bool is_simpler = attempt_with([](Scenario& s) { s.resent_per_thousand = 0; });
    is_simpler |= attempt_with([](Scenario& s) { s.delay_max = s.delay_min; });
    is_simpler |= attempt_with([](Scenario& s) { s.disk_sync_max = std::chrono::milliseconds(1); });
    is_simpler |= attempt_with([](Scenario& s) { s.pieces_per_thousand = 0; });
    is_simpler |= attempt_with([](Scenario& s) { s.turn_max = 0ns; });
    is_simpler |= attempt_with([](Scenario& s) { s.door_look_max = 0ns; });
    is_simpler |= attempt_with([](Scenario& s) { s.ttl_window = 0ns; });
    is_simpler |= attempt_with([](Scenario& s) { s.hear_everyone = false; });
    is_simpler |= attempt_with([](Scenario& s) { s.plain = false; });
    for (std::size_t i = 0; i < best_.node_rates.size(); ++i) {
      is_simpler |= attempt_with([i](Scenario& s) { s.node_rates[i] = 0; });
    }
    for (std::size_t i = 0; i < best_.client_rates.size(); ++i) {
      is_simpler |= attempt_with([i](Scenario& s) { s.client_rates[i] = 0; });
    }
    const bool is_last_idle =
        best_.clients > 2 &&
        std::none_of(best_.events.begin(), best_.events.end(),
                     [this](const Event& e) { return e.client == best_.clients; });
    if (!is_last_idle) return is_simpler;
    return attempt_with([](Scenario& s) {
             --s.clients;
             s.client_rates.pop_back();
           }) ||
           is_simpler;
  }

  bool simplify_events() {
    bool is_simpler = false;
    for (std::size_t i = 0; i < best_.events.size(); ++i) {
      is_simpler |= attempt_with([i](Scenario& s) { s.events[i].wait = Duration(0); });
      is_simpler |= attempt_with([i](Scenario& s) { s.events[i].fence = true; });
      is_simpler |= attempt_with([i](Scenario& s) {
        s.events[i].at = std::chrono::floor<std::chrono::milliseconds>(s.events[i].at);
      });
      is_simpler |= attempt_with([i](Scenario& s) {
        if (s.events[i].holding == Holding::keep) s.events[i].holding = Holding::run_out;
      });
    }
    return is_simpler;
  }

  static constexpr std::uint64_t kChances = 4;

  Scenario best_;
  Breach breach_;
  const std::function<void(const Scenario&)>& progress_;
  std::uint64_t runs_ = 0;
};

}  // namespace

Shrunk shrink(const Scenario& scenario, Breach breach,
              const std::function<void(const Scenario&)>& progress) {
  return Shrinker(scenario, breach, progress).shrink();
}

}  // namespace redlock::simulation
