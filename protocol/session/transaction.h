// Transaction: the requests between MULTI and EXEC, in the order in which they came.
//
//   if (!transaction.add(request, spec.flags)) …          // too long: it is broken now
//   for (std::size_t i = 0; i < transaction.size(); ++i)  // EXEC
//     execute(transaction.request(i));
//
// All words stand in one piece of memory. A transaction that is broken will never be executed, so
// it keeps nothing.
#pragma once

#include "protocol/resp/request.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::protocol {

// What one connection can make the node keep until its EXEC: as much as its largest word, and
// thousands of times what a transaction about locks has.
inline constexpr std::size_t kTransactionBytesMax = 16 * 1024 * 1024;

class Transaction {
 public:
  // A copy of the words; `flags` are the command's (CommandFlag). False: with this one it would be
  // longer than kTransactionBytesMax, and is broken. A broken one takes any and keeps none.
  [[nodiscard]] bool add(Request request, std::uint32_t flags);
  // A request was refused: EXEC must execute none of them.
  void break_off();

  bool is_broken() const { return is_broken_; }
  std::size_t size() const { return request_ends_.size(); }
  // Of all its requests together.
  std::size_t words() const { return word_ends_.size(); }
  // The flags of all its commands.
  std::uint32_t flags() const { return flags_; }
  // REQUIRES: number < size(). The words are valid until the next call of anything here.
  Request request(std::size_t number);
  // The memory of its words.
  std::size_t bytes() const;

 private:
  std::string text_;                         // the words, one behind the other
  std::vector<std::uint32_t> word_ends_;     // where each ends in text_
  std::vector<std::uint32_t> request_ends_;  // how many words there are up to the end of each
  std::vector<std::string_view> words_;      // of the request handed out last
  std::uint32_t flags_ = 0;
  bool is_broken_ = false;
};

}  // namespace redlock::protocol
