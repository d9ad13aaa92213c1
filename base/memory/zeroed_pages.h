// ZeroedPages: memory that is all zeros, of which a page counts when it is first written to.
//
//   ZeroedPages pages(2 << 20);
//   static_cast<std::uint32_t*>(pages.begin())[7] = 1;   // takes one page of the system
//   pages.let_be_huge();
//
// Who looks here and there in a large table waits for the addresses of its pages, which are too
// many for the processor's TLB. A huge page ends that, but the system has to find and clear it: a
// program that touches a new one waits for up to 10 ms. So these are small ones, however the
// system is set, until let_be_huge(): then the kernel copies them together when it has time.
//
// Thread safety: none.
#pragma once

#include <cstddef>
#include <utility>

namespace redlock {

class ZeroedPages {
 public:
  ZeroedPages() = default;
  // Ends the program where the system has no memory.
  explicit ZeroedPages(std::size_t bytes);
  ~ZeroedPages();
  ZeroedPages(ZeroedPages&& other) noexcept { swap(other); }
  ZeroedPages& operator=(ZeroedPages&& other) noexcept {
    swap(other);
    return *this;
  }

  // At the start of a huge page; nullptr: there are none.
  void* begin() const { return begin_; }
  // A hint; again and again costs a system call and no more.
  void let_be_huge();

 private:
  void swap(ZeroedPages& other) noexcept {
    std::swap(begin_, other.begin_);
    std::swap(bytes_, other.bytes_);
  }

  void* begin_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace redlock
