#include "lua/scripts/native_run.h"

#include <utility>

namespace redlock::lua {

using protocol::Reply;

namespace {

constexpr std::string_view kObject = "redis.";
constexpr std::string_view kCall = "call(";
constexpr std::string_view kProtectedCall = "pcall(";

// The text in the quotes at the front; empty if there are none.
std::string_view quoted(std::string_view text) {
  const char quote = text.empty() ? '\0' : text.front();
  if (quote != '\'' && quote != '"') return {};
  return text.substr(1, text.find(quote, 1) - 1);
}

}  // namespace

std::vector<NativeCall> native_calls_of(std::string_view body) {
  std::vector<NativeCall> calls;
  int line = 1;
  for (std::size_t at = 0; at < body.size(); ++at) {
    if (body[at] == '\n') ++line;
    if (!body.substr(at).starts_with(kObject)) continue;
    const std::string_view function = body.substr(at + kObject.size());
    const bool is_protected = function.starts_with(kProtectedCall);
    if (!is_protected && !function.starts_with(kCall)) continue;
    const std::size_t name_at = is_protected ? kProtectedCall.size() : kCall.size();
    calls.push_back({quoted(function.substr(name_at)), line, is_protected});
  }
  return calls;
}

void NativeRun::note_error(std::size_t nth, Reply& reply) {
  if (calls_[nth].is_protected) return;
  failed_ = &calls_[nth];
  error_ = std::exchange(reply, Reply::null());
}

}  // namespace redlock::lua
