// The scripts of the common lock libraries: acquire, extend, release.
//
// These libraries send EVALSHA first, and some take NOSCRIPT for "not released". A node that was
// restarted has an empty script cache but, through this table, answers them at once. A body is
// compiled when it is first asked for. The scripts stand in known/, each in a file; known/index.txt
// tells beside each the native form, by which it runs without Lua (native_forms.h).
#pragma once

#include "lua/scripts/native_run.h"
#include "protocol/resp/reply.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <string_view>

namespace redlock::lua {

// A form, and how many keys and arguments it takes.
struct NativeForm {
  // In the place of a count: from one to kAnyMax, and the form looks at them itself.
  static constexpr std::size_t kAny = std::numeric_limits<std::size_t>::max();
  static constexpr std::size_t kAnyMax = 16;
  static constexpr std::size_t kWordBytesMax = 1024;

  protocol::Reply (*run)(NativeRun&);
  std::size_t keys;
  std::size_t args;

  // Whether the words are as many, and as short, as the libraries' own. Lua's memory has a bound,
  // so long ones are for the interpreter.
  bool takes(NativeRun::Words keys_given, NativeRun::Words args_given) const {
    return fits(keys, keys_given) && fits(args, args_given);
  }

 private:
  static bool fits(std::size_t count, NativeRun::Words words) {
    const bool is_any = count == kAny && words.size() - 1 < kAnyMax;
    if (words.size() != count && !is_any) return false;
    std::size_t longest = 0;
    for (const std::string_view word : words) longest = std::max(longest, word.size());
    return longest <= kWordBytesMax;
  }
};

// How the names of FencedLock's counters begin.
inline constexpr std::string_view kFencedLockCounter = "redisson_lock_token:";

// How a script knows that a lock is its caller's, before it changes it.
enum class Compares {
  value,                 // all of it, or its field of a hash
  value_beside_counter,  // so, and counts in KEYS[2]
  first_bytes,           // of the value: as many as ARGV[2] says
  nothing,               // it ends a lock whoever holds it
};

struct KnownScript {
  std::string_view sha1;  // lower-case hex
  std::string_view body;
  NativeForm form;
  bool is_nil_if_held = false;  // acquires, and ends with nil if another holds the lock
  Compares compares = Compares::value;

  // Whether it changes a held lock only where its arguments name the value that holds it. Of a
  // beginning of the value 16 bytes are enough: random ones, as no other lock's value begins so.
  bool names_holder(std::span<const std::string_view> arguments) const;
  // Whether that goes for this key of those that it is run with: each, where it takes any number of
  // them; else the first, as the others are what a library keeps beside its lock.
  bool compares_key(std::string_view key, std::span<const std::string_view> keys) const;
  static constexpr std::size_t kKeysLookedAt = 2;  // by compares_key()
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
