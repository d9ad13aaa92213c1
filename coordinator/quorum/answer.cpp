#include "coordinator/quorum/answer.h"

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
    case AnswerKind::other_group:
      return "other group";
    case AnswerKind::unsafe:
      return "unsafe";
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
    case ErrorCode::overloaded:
      return "overloaded";
    case ErrorCode::other_group:
      return "other group";
    case ErrorCode::system:
      return "system";
  }
  return "";
}

}  // namespace redlock

namespace redlock::coordinator {

std::string answer_text(const Answer& answer) {
  std::string_view text = answer.text;
  // What Redis says of it explains a command that nobody typed here.
  if (answer.kind == AnswerKind::denied && text.starts_with("NOAUTH")) return "wants a password";
  if (answer.kind == AnswerKind::denied && text.starts_with("WRONGPASS")) {
    return "refuses the password";
  }
  const bool is_sentence = answer.kind == AnswerKind::recovering || answer.is_limit;
  if (is_sentence && text.starts_with("ERR ")) text.remove_prefix(4);
  if (answer.kind == AnswerKind::other_group && text.starts_with("GROUP ")) text.remove_prefix(6);
  if (!text.empty()) return std::string(text);
  return std::string(answer_name(answer.kind));
}

}  // namespace redlock::coordinator

namespace redlock::coordinator {

bool tells_of_no_member(std::string_view text) {
  return text.starts_with(kLostItsLedger) || text.starts_with(kIsNoMember) ||
         text.starts_with(kIsOfAnotherGroup);
}

}  // namespace redlock::coordinator
