#include "lua/scripts/known_scripts.h"

#include "base/text/number.h"

#include <cstdint>
#include <utility>

namespace redlock::lua {

bool KnownScript::names_holder(std::span<const std::string_view> arguments) const {
  constexpr std::int64_t kFirstBytesMin = 16;
  if (compares != Compares::first_bytes) return compares != Compares::nothing;
  if (arguments.size() < 2) return false;
  const auto bytes = parse_int64(arguments[1]);
  return bytes && *bytes >= kFirstBytesMin && std::cmp_less_equal(*bytes, arguments[0].size());
}

bool KnownScript::compares_key(std::size_t nth, std::string_view key) const {
  if (nth == 0 || form.keys == NativeForm::kAny) return true;
  const bool is_counter = nth == 1 && compares == Compares::value_beside_counter;
  return is_counter && key.starts_with("redisson_lock_token:");
}

std::string_view known_script_body(std::string_view sha1) {
  for (const KnownScript& script : known_scripts()) {
    if (script.sha1 == sha1) return script.body;
  }
  return {};
}

}  // namespace redlock::lua
