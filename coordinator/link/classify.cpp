#include "base/text/printable.h"
#include "coordinator/link/node_request.h"
#include "protocol/resp/errors.h"

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>

namespace redlock::coordinator {
namespace {

using protocol::Reply;

// A recovering node's refusal (rule R10): told apart by its text, as it must look like any error to
// the libraries that do not know it.
constexpr std::string_view kRecoveringText = "ERR recovering after a restart";

// What a node says that will never grant this (refusals.h, ttl.cpp in server/); the last one is
// that of earlier versions.
constexpr std::array<std::string_view, 4> kLimitTexts = {
    "is above this node's max-ttl", "bytes is too long: at most ",
    "bytes is too large: value-size-limit is ", "is longer than this node takes"};

// The node goes by another roster than was named to it (rule G1).
constexpr std::string_view kGroupCode = "GROUP ";

constexpr std::array<std::string_view, 3> kDeniedCodes = {"NOAUTH", "WRONGPASS", "NOPERM"};

Answer classify_error(std::string_view text) {
  Answer answer{.kind = AnswerKind::error, .text = printable(text)};
  answer.is_unknown_form = text == protocol::kSyntaxError;
  if (text.starts_with(kGroupCode)) answer.kind = AnswerKind::other_group;
  if (text.starts_with(kRecoveringText)) answer.kind = AnswerKind::recovering;
  for (const std::string_view code : kDeniedCodes) {
    if (text.starts_with(code)) answer.kind = AnswerKind::denied;
  }
  for (const std::string_view limit : kLimitTexts) {
    if (text.find(limit) != std::string_view::npos) answer.is_limit = true;
  }
  return answer;
}

Answer unexpected(const Reply& reply) {
  return {.kind = AnswerKind::error,
          .text = fmt::format("unexpected reply {}", printable(reply.to_string()))};
}

bool is_between(const Reply& number, std::int64_t least, std::int64_t most) {
  return number.is(Reply::Kind::integer) && number.integer() >= least && number.integer() <= most;
}

bool is_token(const Reply& number) {
  return is_between(number, 0, static_cast<std::int64_t>(kTokenMax));
}

// Milliseconds left; -1 without a deadline (rule L3).
bool is_time_left(const Reply& number) {
  return is_between(number, -1, std::numeric_limits<std::int64_t>::max());
}

// 0: no; 1: yes; 2, of an extension that may top up: the lock was missing there, and was made.
Answer classify_count(const Reply& reply, const Reply& count, int most) {
  if (!is_between(count, 0, most)) return unexpected(reply);
  if (count.integer() == 0) return {.kind = AnswerKind::no};
  return {.kind = AnswerKind::yes, .topped_up = count.integer() == 2};
}

// LOCK.ACQUIRE: [1, proposal, validity in ms] or [0, ms until it expires]; SET: OK or nil.
Answer classify_grant(const Reply& reply) {
  if (reply.is(Reply::Kind::status) && reply.text() == "OK") return {.kind = AnswerKind::yes};
  if (reply.is_null()) return {.kind = AnswerKind::no};
  const auto& items = reply.items();
  if (!reply.is(Reply::Kind::array) || items.empty()) return unexpected(reply);
  Answer answer = classify_count(reply, items[0], 1);
  const bool is_grant = answer.kind == AnswerKind::yes;
  const bool has_shape = is_grant ? items.size() == 3 && is_token(items[1]) &&
                                        is_time_left(items[2]) && items[2].integer() >= 0
                                  : items.size() == 2 && is_time_left(items[1]);
  if (answer.is_vote() && !has_shape) return unexpected(reply);
  if (is_grant) answer.token = static_cast<Token>(items[1].integer());
  return answer;
}

// LOCK.EXTEND and LOCK.REPLACE: [1 or 2, stored token, ms left], [0] of what is free, [0, ms] of
// what is another's; a script: 0, 1 or 2.
Answer classify_extension(const Reply& reply, int most) {
  if (!reply.is(Reply::Kind::array)) {
    Answer answer = classify_count(reply, reply, most);
    answer.is_lacking = answer.kind == AnswerKind::no;  // or another's: a plain Redis does not tell
    return answer;
  }
  const auto& items = reply.items();
  if (items.empty()) return unexpected(reply);
  Answer answer = classify_count(reply, items[0], most);
  const bool is_extended = answer.kind == AnswerKind::yes;
  const bool has_shape = is_extended
                             ? items.size() == 3 && is_token(items[1]) && is_time_left(items[2])
                             : items.size() == 1 || (items.size() == 2 && is_time_left(items[1]));
  if (answer.is_vote() && !has_shape) return unexpected(reply);
  if (is_extended) answer.token = static_cast<Token>(items[1].integer());
  answer.is_lacking = answer.kind == AnswerKind::no && items.size() == 1;
  return answer;
}

// SET … IFEQ: OK or nil; its script: 1 or 0.
Answer classify_shortening(const Reply& reply) {
  if (reply.is(Reply::Kind::status) && reply.text() == "OK") return {.kind = AnswerKind::yes};
  if (reply.is_null()) return {.kind = AnswerKind::no};
  return classify_count(reply, reply, 1);
}

// Behind the token: a label, and how many milliseconds it is held for.
bool is_label(const std::vector<Reply>& items) {
  return items.size() == 5 && items[3].is(Reply::Kind::bulk) &&
         is_between(items[4], 0, std::numeric_limits<std::int64_t>::max());
}

// LOCK.HOLDER: [value, ms left, token], with a label two more; its script: [value, ms left]; nil.
Answer classify_holder(const Reply& reply) {
  if (reply.is_null()) return {.kind = AnswerKind::yes};
  const auto& items = reply.items();
  const bool has_shape = reply.is(Reply::Kind::array) && items.size() >= 2 &&
                         items[0].is(Reply::Kind::bulk) && is_time_left(items[1]) &&
                         (items.size() == 2 || is_token(items[2])) &&
                         (items.size() <= 3 || is_label(items));
  return has_shape ? Answer{.kind = AnswerKind::yes} : unexpected(reply);
}

// SCAN: [cursor, [name, …]].
Answer classify_page(const Reply& reply) {
  const auto& items = reply.items();
  const auto is_name = [](const Reply& item) { return item.is(Reply::Kind::bulk); };
  const bool has_shape = reply.is(Reply::Kind::array) && items.size() == 2 && is_name(items[0]) &&
                         items[1].is(Reply::Kind::array) &&
                         std::all_of(items[1].items().begin(), items[1].items().end(), is_name);
  return has_shape ? Answer{.kind = AnswerKind::yes} : unexpected(reply);
}

// A plain Redis says -1 of a key that somebody gave no deadline: it is held for ever.
Duration time_left(std::int64_t ms) {
  constexpr auto kMost = std::chrono::floor<std::chrono::milliseconds>(Duration::max());
  if (ms < 0 || ms > kMost.count()) return Duration::max();
  return std::chrono::milliseconds(ms);
}

}  // namespace

std::optional<NodeReading> read_holder(const Reply& reply) {
  const auto& items = reply.items();
  if (items.size() < 2) return std::nullopt;
  NodeReading told{.value = std::string(items[0].text()),
                   .left = time_left(items[1].integer()),
                   .token = items.size() > 2 ? static_cast<Token>(items[2].integer()) : 0};
  if (items.size() < 5) return told;
  told.label = printable(items[3].text());
  told.held = time_left(items[4].integer());
  return told;
}

Answer classify(RequestKind kind, const Reply& reply, bool may_top_up) {
  if (reply.is_error()) return classify_error(reply.text());
  switch (kind) {
    case RequestKind::acquire:
      return classify_grant(reply);
    case RequestKind::extend:
      return classify_extension(reply, may_top_up ? 2 : 1);
    case RequestKind::replace:
      return classify_extension(reply, 1);
    case RequestKind::release:
    case RequestKind::confirm:
      return classify_count(reply, reply, 1);
    case RequestKind::shorten:
      return classify_shortening(reply);
    case RequestKind::holder:
    case RequestKind::read:
      return classify_holder(reply);
    case RequestKind::scan:
      return classify_page(reply);
    default:
      return {.kind = AnswerKind::yes};
  }
}

}  // namespace redlock::coordinator
