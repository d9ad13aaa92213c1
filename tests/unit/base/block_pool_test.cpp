#include "base/memory/block_pool.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

using redlock::BlockPool;

namespace {

constexpr std::size_t kBlocks = 100;  // more than are asked of the system at a time

// Pages of a block that are in memory.
std::size_t resident_pages(char* block) {
  std::vector<unsigned char> pages(BlockPool::kBlockBytes /
                                   static_cast<std::size_t>(sysconf(_SC_PAGESIZE)));
  REQUIRE(mincore(block, BlockPool::kBlockBytes, pages.data()) == 0);
  return static_cast<std::size_t>(std::count_if(
      pages.begin(), pages.end(), [](unsigned char page) { return (page & 1) != 0; }));
}

std::vector<char*> take(BlockPool& pool, std::size_t count) {
  std::vector<char*> blocks;
  for (std::size_t i = 0; i < count; ++i) blocks.push_back(pool.take());
  return blocks;
}

}  // namespace

TEST_CASE("blocks do not overlap, and keep what is written to them") {
  BlockPool pool;
  const auto blocks = take(pool, kBlocks);
  for (std::size_t i = 0; i < kBlocks; ++i) {
    REQUIRE(blocks[i] != nullptr);
    std::memset(blocks[i], static_cast<int>(i), BlockPool::kBlockBytes);
  }
  for (std::size_t i = 0; i < kBlocks; ++i) {
    const auto is_its_own = [i](char byte) { return byte == static_cast<char>(i); };
    CHECK(std::all_of(blocks[i], blocks[i] + BlockPool::kBlockBytes, is_its_own));
  }
}

TEST_CASE("a block that is given back takes no memory, and is handed out again") {
  BlockPool pool;
  const auto blocks = take(pool, kBlocks);
  for (char* block : blocks) std::memset(block, 1, BlockPool::kBlockBytes);
  CHECK(resident_pages(blocks[50]) > 0);
  for (char* block : blocks) pool.give_back(block);
  for (char* block : blocks) CHECK(resident_pages(block) == 0);
  const auto again = take(pool, kBlocks);
  CHECK(std::set(again.begin(), again.end()) == std::set(blocks.begin(), blocks.end()));
}

TEST_CASE("a pool that is moved takes its blocks along") {
  BlockPool pool;
  char* const block = pool.take();
  std::memset(block, 7, BlockPool::kBlockBytes);
  BlockPool other = std::move(pool);
  CHECK(block[BlockPool::kBlockBytes - 1] == 7);
  other.give_back(block);
  CHECK(other.take() == block);
}
