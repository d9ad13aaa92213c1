#include "protocol/session/transaction.h"

#include "base/invariant.h"

namespace redlock::protocol {

bool Transaction::add(Request request, std::uint32_t flags) {
  if (is_broken_) return true;
  std::size_t text_bytes = 0;
  for (const std::string_view word : request) text_bytes += word.size();
  const std::size_t added = text_bytes + (request.size() + 1) * sizeof(std::uint32_t);
  if (bytes() + added > kTransactionBytesMax) {
    break_off();
    return false;
  }
  if (size() == 0) {  // most often the only one
    text_.reserve(text_bytes);
    word_ends_.reserve(request.size());
  }
  for (const std::string_view word : request) {
    text_.append(word);
    word_ends_.push_back(static_cast<std::uint32_t>(text_.size()));
  }
  request_ends_.push_back(static_cast<std::uint32_t>(word_ends_.size()));
  flags_ |= flags;
  return true;
}

void Transaction::break_off() {
  *this = {};
  is_broken_ = true;
}

Request Transaction::request(std::size_t number) {
  INVARIANT(number < size(), "a request that the transaction does not have");
  words_.clear();
  std::size_t word = number == 0 ? 0 : request_ends_[number - 1];
  std::size_t start = word == 0 ? 0 : word_ends_[word - 1];
  words_.reserve(request_ends_[number] - word);
  for (; word < request_ends_[number]; ++word) {
    words_.push_back(std::string_view(text_).substr(start, word_ends_[word] - start));
    start = word_ends_[word];
  }
  return words_;
}

std::size_t Transaction::bytes() const {
  return text_.size() + (word_ends_.size() + request_ends_.size()) * sizeof(std::uint32_t);
}

}  // namespace redlock::protocol
