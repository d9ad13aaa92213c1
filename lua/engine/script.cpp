#include "lua/engine/script.h"

#include "lua/library/limits.h"
#include "lua/scripts/known_scripts.h"
#include "lua/scripts/sha1_text.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace redlock::lua {
namespace {

constexpr std::array<std::string_view, 5> kFlags = {"no-writes", "allow-oom", "allow-stale",
                                                    "no-cluster", "allow-cross-slot-keys"};
constexpr std::string_view kFlagsOption = "flags=";

// Takes the text up to the separator off the front, and the separator.
std::string_view take(std::string_view& text, char separator) {
  const std::size_t end = text.find(separator);
  const std::string_view front = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return front;
}

void read_flags(std::string_view flags, ScriptHeader& header) {
  while (!flags.empty() && header.error.empty()) {
    const std::string_view flag = take(flags, ',');
    if (std::find(kFlags.begin(), kFlags.end(), flag) == kFlags.end()) {
      header.error = fmt::format("ERR Unexpected flag in script shebang: {}", flag);
    }
    if (flag == "no-writes") header.flags.is_read_only = header.flags.allows_oom = true;
    if (flag == "allow-oom") header.flags.allows_oom = true;
  }
}

}  // namespace

Script::Script(std::string body, int function, bool may_change_tables)
    : body_(std::move(body)),
      function_(function),
      may_change_tables_(may_change_tables),
      known_(known_script_of(body_)),
      is_quick_(known_ != nullptr) {}

std::string_view Script::make_sha1() const {
  sha1_ = sha1_text(body_);
  return sha1_;
}

std::string raised_error_text(std::string_view error, const Script& script, int line) {
  const std::string_view text = error.substr(0, error.find('\0')).substr(0, kErrorTextBytesMax);
  return fmt::format("{} script: {}, on @user_script:{}.", text, script.sha1(), line);
}

ScriptHeader read_script_header(std::string_view body) {
  ScriptHeader header;
  header.source = body;
  if (!body.starts_with("#!")) return header;
  const std::size_t line_end = body.find('\n');
  if (line_end == std::string_view::npos) {
    header.error = "ERR Invalid script shebang";
    return header;
  }
  header.source = body.substr(line_end);
  header.flags.is_there = true;
  std::string_view line = body.substr(0, line_end);
  const std::string_view engine = take(line, ' ');
  if (engine != "#!lua") {
    header.error = fmt::format("ERR Unexpected engine in script shebang: {}", engine);
    return header;
  }
  while (!line.empty() && header.error.empty()) {
    const std::string_view option = take(line, ' ');
    if (option.starts_with(kFlagsOption)) {
      read_flags(option.substr(kFlagsOption.size()), header);
    } else if (!option.empty()) {
      header.error = fmt::format("ERR Unknown lua shebang option: {}", option);
    }
  }
  return header;
}

}  // namespace redlock::lua
