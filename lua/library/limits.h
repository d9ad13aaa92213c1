// What a script may cost at most. Time is bounded from outside (Engine::interrupt and
// abort_running), memory by the allocator; the rest of this page bounds what neither can: work that
// one call of a C function does without coming back to the virtual machine, where alone a count
// hook can stop it, and what a reply may grow to outside of Lua's memory.
#pragma once

#include <cstddef>
#include <cstdint>

namespace redlock::lua {

// Set by whoever owns the engine.
struct Limits {
  // What scripts may use beyond what the bare engine takes (script-memory-limit).
  std::size_t memory_bytes_max = 16 * 1024 * 1024;
  // The body of a script, and what load() takes (script-size-limit).
  std::size_t script_bytes_max = 64 * 1024;
  // A suspended script goes on for this many instructions at a time: about a millisecond.
  int slice_instructions = 100'000;
  // Scripts that came by EVAL: the least recently used one is forgotten when there are more (500 is
  // Redis's own figure, since 7.4). Scripts that came by SCRIPT LOAD stay until SCRIPT FLUSH.
  std::size_t recent_scripts_max = 500;
  // Any number that clients cannot know: bodies are looked up by a hash keyed with it.
  std::uint64_t hash_seed = 0;
};

// Of the memory limit, the share that scripts may take, bodies and compiled: the rest is for those
// that run.
inline constexpr std::size_t kCompiledShare = 4;

// Elements that one call of a table function may walk: concat, insert, remove, foreachi. An honest
// array of this size takes 16 MB; a length that __len or a sparse table pretends can be 2^62.
inline constexpr std::int64_t kTableItemsMax = 1 << 20;

// Comparisons of one table.sort, each weighted by the longest string: about a second.
inline constexpr double kSortStepsMax = 3e7;

// What a script returns, and what it can build by returning one long string many times: 15 ms. As
// deep as a client reads (protocol::kReplyDepthMax).
inline constexpr std::size_t kReplyItemsMax = 32 * 1024;
inline constexpr std::size_t kReplyTextBytesMax = 32 * 1024 * 1024;
// Of what a script raises; the rest is cut off.
inline constexpr std::size_t kErrorTextBytesMax = 64 * 1024;

}  // namespace redlock::lua
