// SlowLine: what may take long at a front door, and which of it begins next.
//
// First come, first served. But what was left by clients that have gone, such as a release, goes on
// in every second place only: however many come, send what takes long and go, who is there waits
// twice as long at most. They cost no place of maxclients, so what they leave is bounded twice.
//
// Pure. Thread safety: none. Invariant: bytes_of_gone_ is the sum over of_gone_.
#pragma once

#include "coordinator/front_door/served/command_body.h"
#include "protocol/session/session.h"

#include <cstddef>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

namespace redlock::coordinator {

// A command that came, and has not run.
struct NewCommand {
  protocol::Session::Id session;
  std::unique_ptr<CommandBody> body;
  std::size_t bytes = 0;  // of what its client sent
};

class SlowLine {
 public:
  // Half a minute of them, with the rests between, if each takes all of its time.
  static constexpr std::size_t kOfGoneMax = 128;
  static constexpr std::size_t kBytesOfGoneMax = std::size_t{16} * 1024 * 1024;

  void push(NewCommand command) { of_present_.push_back(std::move(command)); }
  bool empty() const { return of_present_.empty() && of_gone_.empty(); }

  // Looks whose clients have gone, of those that would begin next. Returns what has no place among
  // those: it never begins.
  template <typename IsThere>
  std::vector<NewCommand> set_aside(const IsThere& is_there) {
    std::vector<NewCommand> refused;
    while (!of_present_.empty() && !is_there(of_present_.front().session)) {
      NewCommand left = take_first(of_present_);
      const bool has_place =
          of_gone_.size() < kOfGoneMax && bytes_of_gone_ + left.bytes <= kBytesOfGoneMax;
      if (has_place) {
        bytes_of_gone_ += left.bytes;
        of_gone_.push_back(std::move(left));
      } else {
        refused.push_back(std::move(left));
      }
    }
    return refused;
  }

  // REQUIRES: it is not empty.
  NewCommand take() {
    const bool of_gone = of_present_.empty() || (was_of_present_ && !of_gone_.empty());
    was_of_present_ = !of_gone;
    NewCommand next = take_first(of_gone ? of_gone_ : of_present_);
    if (of_gone) bytes_of_gone_ -= next.bytes;
    return next;
  }

 private:
  static NewCommand take_first(std::deque<NewCommand>& of) {
    NewCommand first = std::move(of.front());
    of.pop_front();
    return first;
  }

  std::deque<NewCommand> of_present_;
  std::deque<NewCommand> of_gone_;
  std::size_t bytes_of_gone_ = 0;
  bool was_of_present_ = false;  // the last that was taken
};

}  // namespace redlock::coordinator
