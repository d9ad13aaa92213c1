#include "lua/scripts/known_scripts.h"

namespace redlock::lua {

std::string_view known_script_body(std::string_view sha1) {
  for (const KnownScript& script : known_scripts()) {
    if (script.sha1 == sha1) return script.body;
  }
  return {};
}

}  // namespace redlock::lua
