#include "tests/bench/reply_counter.h"

#include <charconv>

namespace redlock::bench {
namespace {

enum class Kind { incomplete, hit, miss, error, broken };

struct Seen {
  Kind kind = Kind::incomplete;
  std::size_t size = 0;  // of the whole reply; of its first line when it is an error or broken
};

Seen see(std::string_view bytes);

// A value of `length` bytes behind its first line.
Seen see_bulk(std::string_view bytes, std::size_t line, std::int64_t length) {
  if (length < 0) return {Kind::miss, line};
  const std::size_t size = line + static_cast<std::size_t>(length) + 2;
  return bytes.size() < size ? Seen{} : Seen{Kind::hit, size};
}

// An array is what its first element is, unless one of them is an error.
Seen see_array(std::string_view bytes, std::size_t line, std::int64_t elements) {
  Seen all{Kind::miss, line};
  for (std::int64_t i = 0; i < elements; ++i) {
    const Seen element = see(bytes.substr(all.size));
    if (element.kind == Kind::incomplete) return {};
    all.size += element.size;
    if (element.kind == Kind::broken || element.kind == Kind::error)
      return {element.kind, all.size};
    if (i == 0) all.kind = element.kind;
  }
  return all;
}

Seen see(std::string_view bytes) {
  const std::size_t end = bytes.find('\n');
  if (end == std::string_view::npos) return {};
  const std::size_t line = end + 1;
  std::int64_t number = 0;
  std::from_chars(bytes.data() + 1, bytes.data() + end, number);
  switch (bytes[0]) {
    case '+':
      return {Kind::hit, line};
    case '_':
      return {Kind::miss, line};
    case ':':
      return {number > 0 ? Kind::hit : Kind::miss, line};
    case '$':
      return see_bulk(bytes, line, number);
    case '*':
      return see_array(bytes, line, number);
    case '-':
      return {Kind::error, line};
    default:
      return {Kind::broken, line};
  }
}

}  // namespace

std::size_t ReplyCounter::take(std::string_view received) {
  std::size_t taken = 0;
  while (taken < received.size()) {
    const std::string_view rest = received.substr(taken);
    const Seen seen = see(rest);
    if (seen.kind == Kind::incomplete) break;
    ReplyCounts& counts = counts_[replies_ % counts_.size()];
    if (seen.kind == Kind::hit) {
      ++counts.hits;
    } else if (seen.kind == Kind::miss) {
      ++counts.misses;
    } else {
      ++counts.errors;
      if (problem_.empty()) problem_ = rest.substr(0, rest.find_first_of("\r\n"));
    }
    ++replies_;
    taken += seen.size;
  }
  bytes_ += taken;
  return taken;
}

void ReplyCounter::add(const ReplyCounter& other) {
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    counts_[i].hits += other.counts_[i].hits;
    counts_[i].misses += other.counts_[i].misses;
    counts_[i].errors += other.counts_[i].errors;
  }
  replies_ += other.replies_;
  bytes_ += other.bytes_;
  if (problem_.empty()) problem_ = other.problem_;
}

}  // namespace redlock::bench
