// Script: one compiled script, as the engine keeps it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace redlock::lua {

// What the first line of a body says.
struct ScriptFlags {
  bool is_there = false;
  bool is_read_only = false;
  bool allows_oom = false;
};

struct KnownScript;

class Script {
 public:
  // `function` is the interpreter's handle of what the body compiled to.
  Script(std::string body, int function, bool may_change_tables);
  Script(const Script&) = delete;
  Script& operator=(const Script&) = delete;

  std::string_view body() const { return body_; }
  // 40 lower-case hex digits. Computed when first asked for, then kept.
  std::string_view sha1() const { return sha1_.empty() ? make_sha1() : sha1_; }
  // What it takes: the body, and about its compiled form.
  std::size_t bytes() const { return body_.size() + compiled_bytes_; }
  // "#!lua flags=no-writes": the host refuses its writes.
  bool is_read_only() const { return header_.is_read_only; }
  // "#!lua flags=allow-oom", or no-writes: it may run, and write, when memory is short.
  bool allows_oom() const { return header_.allows_oom; }
  // It has a first line "#!lua …".
  bool has_header() const { return header_.is_there; }
  // What the host found of its last run: that it takes microseconds. One that never ran may take
  // any time; what lock libraries send (known_scripts.h) is known.
  bool is_quick() const { return is_quick_; }
  void note_quick(bool is_quick) const { is_quick_ = is_quick; }
  // The row of known_scripts() that has this body; nullptr: none.
  const KnownScript* known() const { return known_; }
  // It came by SCRIPT LOAD.
  bool is_kept() const { return is_kept_; }

 private:
  friend class CompiledScripts;
  friend class Engine;
  friend class Interpreter;

  std::string_view make_sha1() const;

  const std::string body_;
  mutable std::string sha1_;
  const int function_;
  const bool may_change_tables_;
  ScriptFlags header_;
  const KnownScript* const known_;
  mutable bool is_quick_;
  bool is_kept_ = false;
  std::size_t compiled_bytes_ = 0;  // of Lua's memory, about
  std::uint64_t last_used_ = 0;     // the cache's count of uses at that moment
};

// What a script answers that ended by this error, raised by the redis.call in this line: as the
// interpreter words it. From a zero byte on, Lua does not tell an error's text.
std::string raised_error_text(std::string_view error, const Script& script, int line);

// What the first line of a body says when it is "#!lua flags=…". `source` is the rest, from the
// line break on, so that line numbers stay. With `error` (as Redis words it) nothing else counts.
struct ScriptHeader {
  std::string_view source;
  ScriptFlags flags;
  std::string error;
};
ScriptHeader read_script_header(std::string_view body);

}  // namespace redlock::lua
