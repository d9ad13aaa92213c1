// Counts what a server answers, so that a benchmark knows that its requests were served.
//
//   ReplyCounter counter(2);                  // a round is two commands, whose answers differ
//   received.erase(0, counter.take(received));
//   counter.counts(0).hits                    // how often the first of them did what it is for
//
// A benchmark that does not look measures how fast a server says no. Every reply is one of: a hit
// (+OK, a positive number, a value, an array that begins with a hit), a miss (nil, 0, an array that
// begins with a miss), or an error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::bench {

struct ReplyCounts {
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
  std::uint64_t errors = 0;
};

class ReplyCounter {
 public:
  // REQUIRES: commands > 0. The replies to a round's commands come in order.
  explicit ReplyCounter(std::size_t commands) : counts_(commands) {}

  // Counts the whole replies at the front of `received`; how many bytes they are.
  std::size_t take(std::string_view received);

  std::uint64_t replies() const { return replies_; }
  std::uint64_t bytes() const { return bytes_; }
  std::size_t commands() const { return counts_.size(); }
  const ReplyCounts& counts(std::size_t command) const { return counts_[command]; }

  // The first error reply, or what was no RESP; empty as long as all is well.
  const std::string& problem() const { return problem_; }

  void add(const ReplyCounter& other);

 private:
  std::vector<ReplyCounts> counts_;
  std::uint64_t replies_ = 0;
  std::uint64_t bytes_ = 0;
  std::string problem_;
};

}  // namespace redlock::bench
