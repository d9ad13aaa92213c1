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

bool KnownScript::compares_key(std::string_view key, std::span<const std::string_view> keys) const {
  if (form.keys == NativeForm::kAny) return true;
  if (!keys.empty() && key == keys[0]) return true;
  const bool is_second = keys.size() >= kKeysLookedAt && key == keys[1];
  const bool counts = compares == Compares::value_beside_counter;
  return is_second && counts && key.starts_with(kFencedLockCounter);
}

std::string_view known_script_body(std::string_view sha1) {
  for (const KnownScript& script : known_scripts()) {
    if (script.sha1 == sha1) return script.body;
  }
  return {};
}

}  // namespace redlock::lua
