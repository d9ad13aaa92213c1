// Ring: a queue in one block of memory, which doubles when it is full and is kept. So a warm queue
// allocates nothing, where std::deque does so every few elements.
//
// T: default-constructible; a slot that is not in use holds one that was made so, or moved from.
//
// Thread safety: none.
#pragma once

#include "base/invariant.h"

#include <cstddef>
#include <utility>
#include <vector>

namespace redlock::coordinator {

template <class T>
class Ring {
 public:
  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  // From the front, 0 to size() - 1.
  T& operator[](std::size_t nth) { return slots_[at(nth)]; }
  const T& operator[](std::size_t nth) const { return slots_[at(nth)]; }
  T& front() { return (*this)[0]; }
  const T& front() const { return (*this)[0]; }
  T& back() { return (*this)[size_ - 1]; }

  void push_back(T&& value) { push_back() = std::move(value); }
  // A slot to be filled: what it holds is as good as new.
  T& push_back() {
    if (size_ == slots_.size()) grow();
    return slots_[at(size_++)];
  }
  void push_front(T&& value) {
    if (size_ == slots_.size()) grow();
    first_ = at(slots_.size() - 1);
    slots_[first_] = std::move(value);
    ++size_;
  }
  // REQUIRES: not empty.
  T take_front() {
    INVARIANT(size_ > 0, "the front of an empty queue was taken");
    T taken = std::move(slots_[first_]);
    first_ = at(1);
    --size_;
    return taken;
  }

 private:
  static constexpr std::size_t kSlotsMin = 16;

  // A power of two, so that it goes round by a mask.
  std::size_t at(std::size_t nth) const { return (first_ + nth) & (slots_.size() - 1); }

  void grow() {
    std::vector<T> larger(slots_.empty() ? kSlotsMin : 2 * slots_.size());
    for (std::size_t i = 0; i < size_; ++i) larger[i] = std::move((*this)[i]);
    slots_ = std::move(larger);
    first_ = 0;
  }

  std::vector<T> slots_;
  std::size_t first_ = 0;
  std::size_t size_ = 0;
};

}  // namespace redlock::coordinator
