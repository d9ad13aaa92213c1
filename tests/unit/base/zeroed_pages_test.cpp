#include "base/memory/zeroed_pages.h"

#include <algorithm>
#include <cstdint>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

using redlock::ZeroedPages;

namespace {

constexpr std::size_t kBytes = std::size_t{2} * 1024 * 1024;

std::size_t pages_in_memory(const ZeroedPages& pages) {
  std::vector<unsigned char> in(kBytes / static_cast<std::size_t>(sysconf(_SC_PAGESIZE)));
  REQUIRE(mincore(pages.begin(), kBytes, in.data()) == 0);
  return static_cast<std::size_t>(
      std::count_if(in.begin(), in.end(), [](unsigned char page) { return (page & 1) != 0; }));
}

}  // namespace

TEST_CASE(
    "zeroed pages are zeros, begin where a huge page can, and count when they are written to") {
  ZeroedPages pages(kBytes);
  REQUIRE(reinterpret_cast<std::uintptr_t>(pages.begin()) % kBytes == 0);
  auto* const bytes = static_cast<char*>(pages.begin());
  bytes[kBytes / 2] = 1;
  CHECK(pages_in_memory(pages) == 1);
  bytes[kBytes - 1] = 1;
  CHECK(pages_in_memory(pages) == 2);
  pages.let_be_huge();  // all of them count from here on, as soon as the kernel has time
  CHECK(std::count(bytes, bytes + kBytes, 0) == kBytes - 2);
}

TEST_CASE("zeroed pages that are moved take along what is written") {
  ZeroedPages some(1);
  static_cast<char*>(some.begin())[0] = 7;
  ZeroedPages other = std::move(some);
  CHECK(static_cast<char*>(other.begin())[0] == 7);
  other = {};
  CHECK(other.begin() == nullptr);
}
