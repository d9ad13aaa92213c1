// Refusal: why a request is not served, or nothing, when it may go on.
//
//   if (Refusal no = grants.refuse(now)) return no;   // in a function that returns a Reply
//
// Movable, not copyable, as Reply.
#pragma once

#include "protocol/resp/reply.h"

#include <optional>
#include <utility>

namespace redlock::protocol {

class [[nodiscard]] Refusal {
 public:
  // Nothing is refused.
  Refusal() = default;
  Refusal(std::nullopt_t) {}                    // NOLINT(google-explicit-constructor)
  Refusal(Reply why) : why_(std::move(why)) {}  // NOLINT(google-explicit-constructor)

  explicit operator bool() const { return why_.has_value(); }
  // The reply that says why. REQUIRES: something is refused.
  operator Reply() && { return std::move(*why_); }  // NOLINT(google-explicit-constructor)
  const Reply& why() const { return *why_; }

 private:
  std::optional<Reply> why_;
};

}  // namespace redlock::protocol
