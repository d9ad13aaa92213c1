// Script: one compiled script, as the engine keeps it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace redlock::lua {

class Script {
 public:
  // `function` is the interpreter's handle of what the body compiled to.
  Script(std::string body, int function, bool may_change_tables);
  Script(const Script&) = delete;
  Script& operator=(const Script&) = delete;

  std::string_view body() const { return body_; }
  // 40 lower-case hex digits. Computed when first asked for, then kept.
  std::string_view sha1() const;
  // "#!lua flags=no-writes": the host refuses its writes.
  bool is_read_only() const { return is_read_only_; }

 private:
  friend class CompiledScripts;
  friend class Engine;
  friend class Interpreter;

  const std::string body_;
  mutable std::string sha1_;
  const int function_;
  const bool may_change_tables_;
  bool is_read_only_ = false;
  bool is_kept_ = false;            // came by SCRIPT LOAD
  std::size_t compiled_bytes_ = 0;  // of Lua's memory, about
  std::uint64_t last_used_ = 0;     // the cache's count of uses at that moment
};

// What the first line of a body says when it is "#!lua flags=…". `source` is the rest, from the
// line break on, so that line numbers stay. With `error` (as Redis words it) nothing else counts.
struct ScriptHeader {
  std::string_view source;
  bool is_read_only = false;
  std::string error;
};
ScriptHeader read_script_header(std::string_view body);

}  // namespace redlock::lua
