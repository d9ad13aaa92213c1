#include "coordinator/link/common_answer.h"

namespace redlock::coordinator {
namespace {

constexpr std::string_view kGranted = "*3\r\n:1\r\n";
constexpr std::string_view kDone = ":1\r\n";
constexpr std::string_view kNotDone = ":0\r\n";

// Takes ":", a number as parse_int64() reads it, and the line's end. One of so few digits fits 64
// bits; the parser reads those that are longer, or below 0.
constexpr std::size_t kDigitsMax = 18;

bool take_number(std::string_view& bytes, std::int64_t& number) {
  if (!bytes.starts_with(':')) return false;
  number = 0;
  std::size_t at = 1;
  for (; at < bytes.size() && bytes[at] >= '0' && bytes[at] <= '9'; ++at) {
    if (at > kDigitsMax) return false;
    number = number * 10 + (bytes[at] - '0');
  }
  const std::size_t digits = at - 1;
  const bool is_number = digits == 1 || (digits > 1 && bytes[1] != '0');
  if (!is_number || bytes.substr(at, 2) != "\r\n") return false;
  bytes.remove_prefix(at + 2);
  return true;
}

std::optional<CommonAnswer> read_grant(std::string_view bytes) {
  if (!bytes.starts_with(kGranted)) return std::nullopt;
  std::string_view rest = bytes.substr(kGranted.size());
  std::int64_t proposal = 0;
  std::int64_t validity = 0;
  if (!take_number(rest, proposal) || !take_number(rest, validity)) return std::nullopt;
  if (proposal > static_cast<std::int64_t>(kTokenMax)) return std::nullopt;
  return CommonAnswer{{.kind = AnswerKind::yes, .token = static_cast<Token>(proposal)},
                      bytes.size() - rest.size()};
}

}  // namespace

std::optional<CommonAnswer> read_common_answer(RequestKind kind, std::string_view bytes) {
  if (kind == RequestKind::acquire) return read_grant(bytes);
  if (kind != RequestKind::release) return std::nullopt;
  if (bytes.starts_with(kDone)) return CommonAnswer{{.kind = AnswerKind::yes}, kDone.size()};
  if (bytes.starts_with(kNotDone)) return CommonAnswer{{.kind = AnswerKind::no}, kNotDone.size()};
  return std::nullopt;
}

}  // namespace redlock::coordinator
