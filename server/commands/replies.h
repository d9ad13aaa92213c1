// Words and replies that the LOCK.* families have in common.
#pragma once

#include "base/label.h"
#include "base/text/number.h"
#include "base/text/words.h"
#include "base/token.h"
#include "base/wait_ticket.h"
#include "protocol/resp/errors.h"
#include "protocol/resp/refusal.h"
#include "protocol/resp/reply.h"
#include "server/notify/waiters.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace redlock::server {

inline protocol::Reply number_reply(std::uint64_t number) {
  return protocol::Reply::integer(static_cast<std::int64_t>(number));
}

template <class... Replies>
protocol::Reply list(Replies... items) {
  protocol::Reply reply = protocol::Reply::array();
  (reply.add(std::move(items)), ...);
  return reply;
}

inline protocol::Refusal read_token(std::string_view word, std::uint64_t least, Token& token) {
  const auto number = parse_int64(word);
  if (!number || *number < static_cast<std::int64_t>(least) ||
      *number > static_cast<std::int64_t>(kTokenMax)) {
    return protocol::Reply::error(
        fmt::format("ERR a token is a number from {} to {}", least, kTokenMax));
  }
  token = static_cast<Token>(*number);
  return std::nullopt;
}

// LABEL text: who the holder says it is. Anything goes but what a list of locks has no room for.
inline protocol::Refusal read_label(std::string_view word, std::string_view text,
                                    std::string_view& label) {
  using protocol::Reply;
  if (!equals_ignoring_case(word, "LABEL")) return Reply::error_view(protocol::kSyntaxError);
  label = text;
  if (label.size() <= kLabelBytesMax) return std::nullopt;
  return Reply::error(fmt::format("ERR a label of {} bytes is too long: at most {} are taken",
                                  label.size(), kLabelBytesMax));
}

inline constexpr std::string_view kPushNeedsResp3 =
    "ERR LOCK.WAIT with PUSH needs RESP3: send HELLO 3 first, or leave PUSH out to block this "
    "connection";

// How long a LOCK.WAIT lasts, or a LOCK.ACQUIRE … WAIT at a front door.
struct WaitReading {
  protocol::Refusal refusal;
  Duration timeout{};
};

inline WaitReading read_wait(std::string_view word) {
  using protocol::Reply;
  const auto ms = parse_int64(word);
  if (!ms) return {Reply::error_view("ERR timeout is not an integer or out of range")};
  if (*ms < 0) return {Reply::error_view("ERR timeout is negative")};
  if (*ms > kWaitMax / 1ms) {
    return {Reply::error(fmt::format(
        "ERR timeout is longer than {} ms: wait for so long at most, and again when it is over",
        kWaitMax / 1ms))};
  }
  return {std::nullopt, std::chrono::milliseconds(*ms)};
}

// The words of LOCK.WAIT, at a node and at a front door.
struct WaitWords {
  protocol::Refusal refusal;
  Waiters::Form form = Waiters::Form::blocking;
  Duration timeout{};
  std::optional<WaitTicket> ticket = {};  // nullopt: the time of its coming counts
};

WaitWords read_wait_words(const Call& call);

}  // namespace redlock::server
