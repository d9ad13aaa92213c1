// KeyList: the few keys that something is still to be done about, kept without an allocation once
// there has been one of each length. A script may name many: their memory goes when they are done.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::server {

class KeyList {
 public:
  // Of so many keys the memory is kept: more than a command or a common script names.
  static constexpr std::size_t kKeptMax = 1024;

  // The same key twice in a row counts once.
  void add(std::string_view key) {
    if (size_ > 0 && keys_[size_ - 1] == key) return;
    if (size_ == keys_.size()) keys_.emplace_back();
    keys_[size_++].assign(key);
  }
  bool empty() const { return size_ == 0; }
  void clear() {
    size_ = 0;
    if (keys_.size() > kKeptMax) keys_ = {};
  }
  std::size_t kept() const { return keys_.size(); }
  // Valid until the next add().
  std::span<const std::string> all() const { return {keys_.data(), size_}; }

 private:
  std::vector<std::string> keys_;  // those past size_ keep their memory for the next
  std::size_t size_ = 0;
};

}  // namespace redlock::server
