#include "lua/scripts/known_scripts.h"

#include <algorithm>

namespace redlock::lua {
namespace {

bool fits(std::size_t count, NativeRun::Words words) {
  const bool has_count =
      count == NativeForm::kAny ? words.size() - 1 < NativeForm::kAnyMax : words.size() == count;
  return has_count && std::all_of(words.begin(), words.end(), [](std::string_view word) {
           return word.size() <= NativeForm::kWordBytesMax;
         });
}

}  // namespace

bool NativeForm::takes(NativeRun::Words keys_given, NativeRun::Words args_given) const {
  return fits(keys, keys_given) && fits(args, args_given);
}

std::string_view known_script_body(std::string_view sha1) {
  for (const KnownScript& script : known_scripts()) {
    if (script.sha1 == sha1) return script.body;
  }
  return {};
}

}  // namespace redlock::lua
