// The scripts of the common lock libraries: acquire, extend, release.
//
// These libraries send EVALSHA first, and some take NOSCRIPT for "not released". A node that was
// restarted has an empty script cache but, through this table, answers them at once. A body is
// compiled when it is first asked for. The scripts stand in known/, each in a file.
#pragma once

#include <span>
#include <string_view>

namespace redlock::lua {

struct KnownScript {
  std::string_view sha1;  // lower-case hex
  std::string_view body;
  bool is_nil_if_held = false;  // acquires, and ends with nil if another holds the lock
};

std::span<const KnownScript> known_scripts();

// Empty if it is none of them.
std::string_view known_script_body(std::string_view sha1);

// nullptr if it is none of them.
inline const KnownScript* known_script_of(std::string_view body) {
  for (const KnownScript& script : known_scripts()) {
    if (script.body == body) return &script;
  }
  return nullptr;
}

}  // namespace redlock::lua
