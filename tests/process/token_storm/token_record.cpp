#include "tests/process/token_storm/token_record.h"

#include "base/net/turn/clock.h"

#include <algorithm>

#include <fmt/format.h>

namespace redlock::token_storm {

std::uint64_t TokenRecord::floor() const {
  const std::lock_guard lock(mutex_);
  return largest_;
}

std::string TokenRecord::give(std::uint64_t floor, std::uint64_t token, Instant valid_until) {
  const std::lock_guard lock(mutex_);
  const Instant now = net::read_clock(net::ClockKind::boottime);
  std::string wrong;
  if (token == 0) {
    wrong = "a lock without a token";
  } else if (!given_.insert(token).second) {
    wrong = fmt::format("token {} was given before", token);
  } else if (token <= floor) {
    wrong = fmt::format("token {}, though {} was given before the acquisition began", token, floor);
  } else if (holder_ != 0 && now < std::min(holder_until_, valid_until)) {
    wrong = fmt::format("token {} while the holder of token {} is valid for {} us more", token,
                        holder_, (holder_until_ - now) / 1us);
  }
  largest_ = std::max(largest_, token);
  if (holder_ == 0 || valid_until > holder_until_) {
    holder_ = token;
    holder_until_ = valid_until;
  }
  return wrong;
}

void TokenRecord::end(std::uint64_t token) {
  const std::lock_guard lock(mutex_);
  if (holder_ == token) holder_ = 0;
}

}  // namespace redlock::token_storm
