// KeyList: the few keys that something is still to be done about, kept without an allocation once
// there has been one of each length. A script may name many, and the same ones again and again:
// what they take is told, so that the list can be thinned, and goes when they are done.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::server {

class KeyList {
 public:
  // Of so many keys the memory is kept: more than a command or a common script names. Not if one of
  // them was long.
  static constexpr std::size_t kKeptMax = 1024;
  static constexpr std::size_t kShortKeyBytesMax = 1024;

  // The same key twice in a row counts once.
  void add(std::string_view key) {
    if (size_ > 0 && keys_[size_ - 1] == key) return;
    if (size_ == keys_.size()) keys_.emplace_back();
    keys_[size_++].assign(key);
    bytes_ += sizeof(std::string) + key.size();
    has_long_ |= key.size() > kShortKeyBytesMax;
  }
  bool empty() const { return size_ == 0; }
  std::size_t bytes() const { return bytes_; }
  // Leaves each key once, of those that are wanted, in another order.
  template <class Wanted>
  void thin_out(Wanted is_wanted) {
    std::sort(keys_.begin(), keys_.begin() + static_cast<std::ptrdiff_t>(size_));
    std::vector<std::string> old;
    old.swap(keys_);
    const std::size_t count = size_;
    size_ = bytes_ = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (is_wanted(old[i])) add(old[i]);
    }
  }
  void clear() {
    size_ = bytes_ = 0;
    if (keys_.size() > kKeptMax || has_long_) keys_ = {};
    has_long_ = false;
  }
  std::size_t kept() const { return keys_.size(); }
  // Valid until the next add().
  std::span<const std::string> all() const { return {keys_.data(), size_}; }

 private:
  std::vector<std::string> keys_;  // those past size_ keep their memory for the next
  std::size_t size_ = 0;
  std::size_t bytes_ = 0;
  bool has_long_ = false;
};

}  // namespace redlock::server
