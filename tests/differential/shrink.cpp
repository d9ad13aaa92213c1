#include "tests/differential/shrink.h"

#include <algorithm>
#include <utility>

namespace redlock::differential {
namespace {

class Shrinker {
 public:
  Shrinker(Sequence sequence, const std::function<bool(const Sequence&)>& still_differs)
      : best_(std::move(sequence)), still_differs_(still_differs) {}

  Shrunk shrink() {
    bool is_simpler = true;
    while (is_simpler) {
      is_simpler = leave_out_steps();
      for (std::size_t i = 0; i < best_.size(); ++i) is_simpler |= simplify_step(i);
    }
    return {std::move(best_), plays_};
  }

 private:
  bool attempt(Sequence candidate) {
    if (candidate == best_) return false;
    ++plays_;
    if (!still_differs_(candidate)) return false;
    best_ = std::move(candidate);
    return true;
  }

  bool attempt_with(const std::function<void(Sequence&)>& change) {
    Sequence candidate = best_;
    change(candidate);
    return attempt(std::move(candidate));
  }

  bool leave_out_steps() {
    bool is_simpler = false;
    for (std::size_t chunk = std::max<std::size_t>(best_.size() / 2, 1); chunk > 0; chunk /= 2) {
      for (std::size_t at = 0; at < best_.size();) {
        const bool left_out = attempt_with([at, chunk](Sequence& sequence) {
          const auto begin = sequence.begin() + static_cast<std::ptrdiff_t>(at);
          const std::size_t count = std::min(chunk, sequence.size() - at);
          sequence.erase(begin, begin + static_cast<std::ptrdiff_t>(count));
        });
        is_simpler |= left_out;
        if (!left_out) at += chunk;
      }
    }
    return is_simpler;
  }

  bool simplify_step(std::size_t i) {
    bool is_simpler = attempt_with([i](Sequence& s) { s[i].client.clear(); });
    is_simpler |= attempt_with([i](Sequence& s) { s[i].wait = Duration::zero(); });
    for (std::size_t word = 1; word < best_[i].words.size();) {
      const bool left_out = attempt_with([i, word](Sequence& s) {
        s[i].words.erase(s[i].words.begin() + static_cast<std::ptrdiff_t>(word));
      });
      is_simpler |= left_out;
      if (!left_out) is_simpler |= simplify_word(i, word++);
    }
    return is_simpler;
  }

  // A plain word, or a text of half the length: scripts are cut from both ends.
  bool simplify_word(std::size_t i, std::size_t word) {
    bool is_simpler = false;
    if (best_[i].words[word].size() > 1) {
      is_simpler |= attempt_with([i, word](Sequence& s) { s[i].words[word].assign(1, 'k'); });
    }
    for (std::size_t cut = best_[i].words[word].size() / 2; cut > 0; cut /= 2) {
      is_simpler |= attempt_with([i, word, cut](Sequence& s) { s[i].words[word].erase(0, cut); });
      is_simpler |= attempt_with([i, word, cut](Sequence& s) {
        std::string& text = s[i].words[word];
        text.resize(text.size() - std::min(cut, text.size()));
      });
    }
    return is_simpler;
  }

  Sequence best_;
  const std::function<bool(const Sequence&)>& still_differs_;
  std::uint64_t plays_ = 0;
};

}  // namespace

Shrunk shrink(Sequence sequence, const std::function<bool(const Sequence&)>& still_differs) {
  return Shrinker(std::move(sequence), still_differs).shrink();
}

}  // namespace redlock::differential
