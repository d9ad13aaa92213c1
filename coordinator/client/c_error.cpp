#include "coordinator/client/c_client.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include <fmt/format.h>

namespace redlock::coordinator {
namespace {

constexpr std::size_t kTextMax = REDLOCK_TEXT_BYTES - 1;

redlock_code code_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::held:
      return REDLOCK_HELD;
    case ErrorCode::not_held:
      return REDLOCK_NOT_HELD;
    case ErrorCode::no_quorum:
      return REDLOCK_NO_QUORUM;
    case ErrorCode::denied:
      return REDLOCK_DENIED;
    case ErrorCode::too_late:
      return REDLOCK_TOO_LATE;
    case ErrorCode::unfenced:
      return REDLOCK_UNFENCED;
    case ErrorCode::not_admitted:
      return REDLOCK_NOT_ADMITTED;
    case ErrorCode::lost:
      return REDLOCK_LOST;
    case ErrorCode::invalid:
      return REDLOCK_INVALID;
    case ErrorCode::wrong_thread:
      return REDLOCK_WRONG_THREAD;
    case ErrorCode::stopped:
      return REDLOCK_STOPPED;
    case ErrorCode::overloaded:
      return REDLOCK_OVERLOADED;
    case ErrorCode::other_group:
      return REDLOCK_OTHER_GROUP;
    case ErrorCode::system:
      return REDLOCK_SYSTEM;
  }
  return REDLOCK_INVALID;
}

// As much of a text as fits, and no part of a character of UTF-8.
std::string_view cut(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return text;
  std::size_t end = bytes_max;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end);
}

// The text, which ends with a zero byte. C reads as far as the first.
void write(redlock_error& error, std::string_view text) {
  std::copy(text.begin(), text.end(), error.text);
  error.text[text.size()] = '\0';
}

}  // namespace

redlock_code tell(redlock_error* error, const Error& why) {
  const redlock_code code = code_of(why.code);
  if (error == nullptr) return code;
  std::string text(cut(why.text, kTextMax));
  for (const NodeAnswer& answer : why.nodes) {
    const std::string line = fmt::format(
        "\n  {}  {}", answer.node, answer.text.empty() ? answer_name(answer.kind) : answer.text);
    if (text.size() + line.size() > kTextMax) break;
    text += line;
  }
  error->code = code;
  write(*error, text);
  return code;
}

redlock_code tell(redlock_error* error, redlock_code code, const char* text) {
  if (error == nullptr) return code;
  error->code = code;
  write(*error, cut(text, kTextMax));
  return code;
}

redlock_code tell_success(redlock_error* error) {
  return tell(error, REDLOCK_OK, "");
}

}  // namespace redlock::coordinator

using namespace redlock;

const char* redlock_code_name(redlock_code code) {
  if (code == REDLOCK_OK) return "ok";
  if (code == REDLOCK_NO_MEMORY) return "no memory";
  for (int each = 0; each <= static_cast<int>(ErrorCode::system); ++each) {
    const auto known = static_cast<ErrorCode>(each);
    if (coordinator::code_of(known) == code) return error_name(known).data();  // it is a literal
  }
  return "unknown";
}
