#include "server/observe/slow_log.h"

#include "server/observe/secret_words.h"

#include <algorithm>

#include <fmt/format.h>

namespace redlock::server {

void SlowLog::add(Entry entry) {
  entry.number = next_number_++;
  entries_.push_front(std::move(entry));
  trim();
}

void SlowLog::set_length_max(std::uint64_t entries) {
  length_max_ = static_cast<std::size_t>(std::min<std::uint64_t>(entries, kEntriesMax));
  trim();
}

void SlowLog::trim() {
  while (entries_.size() > length_max_) entries_.pop_back();
}

std::vector<std::string> SlowLog::shortened(const protocol::CommandSpec& spec,
                                            protocol::Request words) {
  const bool all_fit = words.size() <= kWordsMax;
  const std::size_t kept = all_fit ? words.size() : kWordsMax - 1;
  std::vector<std::string> out;
  for (std::size_t i = 0; i < kept; ++i) {
    const std::string_view word = shown_word(spec, words, i);
    if (word.size() <= kWordBytesMax) {
      out.emplace_back(word);
    } else {
      out.push_back(fmt::format("{}... ({} more bytes)", word.substr(0, kWordBytesMax),
                                word.size() - kWordBytesMax));
    }
  }
  if (!all_fit) out.push_back(fmt::format("... ({} more arguments)", words.size() - kept));
  return out;
}

}  // namespace redlock::server
