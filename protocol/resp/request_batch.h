// RequestBatch: the whole requests at the front of what a client sent, some at a time.
//
// A client that pipelines sends many requests in one go. Understanding several before the first is
// executed lets whoever executes fetch what all of them will look at (Service::expect): memory is
// slow to answer, but answers many questions at once.
//
//     RequestBatch batch;
//     if (batch.read(bytes) > 0) …    // batch[i] for each i below size(), ending at batch.end(i)
//
// It takes only what is plain: arrays of bulk strings that have come to the last byte. What is not
// stops it and is for RequestParser: a request that is incomplete, inline, wrong, or longer than a
// batch has room for.
#pragma once

#include "protocol/resp/request.h"

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

namespace redlock::protocol {

class RequestBatch {
 public:
  // Enough for memory to work on many misses at a time (a core waits for ten to fifteen), and for
  // their locks to stay in its first cache until they are used.
  static constexpr std::size_t kRequestsMax = 32;
  static constexpr std::size_t kWordsMax = 6 * kRequestsMax;  // SET key value NX PX ttl

  RequestBatch() {}  // NOLINT(modernize-use-equals-default): no default, because of the unions

  // Forgets what it had. Returns how many requests it has now; they are views into the bytes.
  // REQUIRES: requests_max <= kRequestsMax.
  std::size_t read(std::string_view bytes, std::size_t requests_max = kRequestsMax);

  std::size_t size() const { return size_; }
  std::span<const Request> requests() const { return {requests_.data(), size_}; }
  Request operator[](std::size_t i) const { return requests_[i]; }
  // How many of the bytes the requests up to this one take.
  std::size_t end(std::size_t i) const { return ends_[i]; }

 private:
  std::size_t size_ = 0;
  // Set as far as they are used, and no further: each read has a batch of its own, and to clear
  // these 4 KB would take as long as to read a request.
  union {
    std::array<Request, kRequestsMax> requests_;
  };
  union {
    std::array<std::string_view, kWordsMax> words_;
  };
  std::array<std::size_t, kRequestsMax> ends_;
};

}  // namespace redlock::protocol
