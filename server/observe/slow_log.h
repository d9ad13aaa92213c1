// SlowLog: the commands that took longest to execute, as SLOWLOG tells them.
//
// An entry is small, whatever the command was: Redis's limits. Thread safety: none.
#pragma once

#include "base/time.h"
#include "protocol/catalogue/command_spec.h"
#include "protocol/resp/request.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::server {

class SlowLog {
 public:
  // Of a command so many words are kept, of a word so many bytes; more are counted.
  static constexpr std::size_t kWordsMax = 32;
  static constexpr std::size_t kWordBytesMax = 128;
  // slowlog-max-len may ask for more; at 5 KB an entry this is what the log takes at most: 50 MB.
  static constexpr std::size_t kEntriesMax = 10'000;

  struct Entry {
    std::int64_t number = 0;
    WallTime when{};
    Duration took{};
    std::vector<std::string> words;
    std::string address;
    std::string client;
  };

  // The number is given here. What is too old goes.
  void add(Entry entry);
  void set_length_max(std::uint64_t entries);
  void clear() { entries_.clear(); }

  // The newest first.
  const std::deque<Entry>& entries() const { return entries_; }

  // A request's words within the limits, and without what is nobody's business.
  static std::vector<std::string> shortened(const protocol::CommandSpec& spec,
                                            protocol::Request words);

 private:
  void trim();

  std::deque<Entry> entries_;
  std::size_t length_max_ = 128;
  std::int64_t next_number_ = 0;
};

}  // namespace redlock::server
