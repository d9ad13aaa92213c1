// Requests that are encoded before they are needed: to ask for another key is to write its digits.
//
//   RequestTemplate round({{"SET", "{key}", "{value}", "NX", "PX", "30000"}});
//   RequestBatch batch(round, 64);            // 64 rounds in one buffer
//   batch.set(0, {.key = 17});                // the first asks for lock:000000000017
//
// {key} is 17 bytes; {value} is 40 and belongs to the key, so that whoever knows the key can
// release it; {deadline} is 13 digits, a wall-clock time in ms as PXAT takes it. So every round of
// a template has the same size, and a server that parses nothing can count requests by their bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::bench {

// What the placeholders of one round become.
struct Fill {
  std::uint64_t key = 0;          // below 10^12
  std::uint64_t deadline_ms = 0;  // below 10^13
};

class RequestTemplate {
 public:
  using Command = std::vector<std::string>;

  // REQUIRES: at least one command, each of at least one word.
  explicit RequestTemplate(const std::vector<Command>& commands);

  std::size_t commands() const { return commands_; }
  std::string_view bytes() const { return bytes_; }
  bool has_deadline() const { return !deadlines_.empty(); }

 private:
  friend class RequestBatch;

  std::size_t commands_;
  std::string bytes_;
  std::vector<std::size_t> keys_;  // where the digits of the key stand
  std::vector<std::size_t> deadlines_;
};

// REQUIRES: the template outlives it.
class RequestBatch {
 public:
  RequestBatch(const RequestTemplate& round, std::size_t rounds);

  void set(std::size_t round, Fill fill);
  // The first `rounds` of them.
  std::string_view view(std::size_t rounds) const;

 private:
  const RequestTemplate* round_;
  std::string bytes_;
};

}  // namespace redlock::bench
