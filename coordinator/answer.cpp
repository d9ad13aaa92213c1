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

}  // namespace

Answer classify(RequestKind kind, const Reply& reply) {
  if (reply.is_error()) return classify_error(reply.text());
  switch (kind) {
    case RequestKind::set:
      if (reply.is(Reply::Kind::status) && reply.text() == "OK") return {.kind = AnswerKind::yes};
      if (reply.is_null()) return {.kind = AnswerKind::no};
      return unexpected(reply);
    case RequestKind::extend:
    case RequestKind::release:
      if (!reply.is(Reply::Kind::integer)) return unexpected(reply);
      return {.kind = reply.integer() > 0 ? AnswerKind::yes : AnswerKind::no};
    case RequestKind::get:
    case RequestKind::pttl:
    case RequestKind::info:
      break;
  }
  return {.kind = AnswerKind::yes};
}

std::string answer_text(const Answer& answer) {
  std::string_view text = answer.text;
  if (answer.kind == AnswerKind::recovering && text.starts_with("ERR ")) text.remove_prefix(4);
  if (!text.empty()) return std::string(text);
  return std::string(answer_name(answer.kind));
}

}  // namespace redlock::coordinator
