#include "coordinator/answer.h"

#include <array>

#include <fmt/format.h>

namespace redlock {

std::string_view answer_name(AnswerKind kind) {
  switch (kind) {
    case AnswerKind::none:
      return "no answer yet";
    case AnswerKind::yes:
      return "yes";
    case AnswerKind::no:
      return "no";
    case AnswerKind::recovering:
      return "recovering";
    case AnswerKind::error:
      return "error";
    case AnswerKind::denied:
      return "denied";
    case AnswerKind::duplicate:
      return "duplicate";
    case AnswerKind::refused:
      return "refused";
    case AnswerKind::broken:
      return "broken";
    case AnswerKind::timed_out:
      return "timed out";
    case AnswerKind::overloaded:
      return "overloaded";
  }
  return "";
}

std::string_view error_name(ErrorCode code) {
  switch (code) {
    case ErrorCode::held:
      return "held";
    case ErrorCode::not_held:
      return "not held";
    case ErrorCode::no_quorum:
      return "no quorum";
    case ErrorCode::denied:
      return "denied";
    case ErrorCode::too_late:
      return "too late";
    case ErrorCode::unfenced:
      return "unfenced";
    case ErrorCode::not_admitted:
      return "not admitted";
    case ErrorCode::lost:
      return "lost";
    case ErrorCode::invalid:
      return "invalid";
    case ErrorCode::wrong_thread:
      return "wrong thread";
    case ErrorCode::stopped:
      return "stopped";
  }
  return "";
}

}  // namespace redlock

namespace redlock::coordinator {
namespace {

using protocol::Reply;

// A recovering node's refusal (rule R10): told apart by its text, as it must look like any error to
// the libraries that do not know it.
constexpr std::string_view kRecoveringText = "ERR recovering after a restart";

constexpr std::array<std::string_view, 3> kDeniedCodes = {"NOAUTH", "WRONGPASS", "NOPERM"};

Answer classify_error(std::string_view text) {
  Answer answer{.kind = AnswerKind::error, .text = std::string(text)};
  if (text.starts_with(kRecoveringText)) answer.kind = AnswerKind::recovering;
  for (const std::string_view code : kDeniedCodes) {
    if (text.starts_with(code)) answer.kind = AnswerKind::denied;
  }
  return answer;
}

Answer unexpected(const Reply& reply) {
  return {.kind = AnswerKind::error, .text = fmt::format("unexpected reply {}", reply.to_string())};
}

// 0: no; 1: yes; 2, of an extension: the lock was missing there, and was made.
Answer classify_count(const Reply& count) {
  if (!count.is(Reply::Kind::integer)) return unexpected(count);
  if (count.integer() <= 0) return {.kind = AnswerKind::no};
  return {.kind = AnswerKind::yes, .topped_up = count.integer() == 2};
}

// LOCK.ACQUIRE: [1, proposal, validity in ms] or [0, ms until it expires].
Answer classify_grant(const Reply& reply) {
  const auto& items = reply.items();
  if (items.size() < 2 || !items[1].is(Reply::Kind::integer)) return unexpected(reply);
  Answer answer = classify_count(items[0]);
  const bool has_proposal = answer.kind == AnswerKind::yes && items[1].integer() > 0;
  if (has_proposal) answer.token = static_cast<Token>(items[1].integer());
  return answer;
}

// LOCK.EXTEND: [1 or 2, stored token, ms left] or [0].
Answer classify_extension(const Reply& reply) {
  if (reply.items().empty()) return unexpected(reply);
  return classify_count(reply.items()[0]);
}

}  // namespace

Answer classify(RequestKind kind, const Reply& reply) {
  if (reply.is_error()) return classify_error(reply.text());
  switch (kind) {
    case RequestKind::acquire:
      if (reply.is(Reply::Kind::status) && reply.text() == "OK") return {.kind = AnswerKind::yes};
      if (reply.is_null()) return {.kind = AnswerKind::no};
      return classify_grant(reply);
    case RequestKind::extend:
      return reply.is(Reply::Kind::array) ? classify_extension(reply) : classify_count(reply);
    case RequestKind::release:
    case RequestKind::confirm:
      return classify_count(reply);
    default:
      return {.kind = AnswerKind::yes};
  }
}

std::string answer_text(const Answer& answer) {
  std::string_view text = answer.text;
  if (answer.kind == AnswerKind::recovering && text.starts_with("ERR ")) text.remove_prefix(4);
  if (!text.empty()) return std::string(text);
  return std::string(answer_name(answer.kind));
}

}  // namespace redlock::coordinator
