// Where the command line's values come from: a file, the environment, flags; the last wins.
//
// redlock.conf holds `name value` lines with the names of the flags; # begins a comment. Each value
// remembers its origin, so that an error can name the file and line, or the flag.
#pragma once

#include "base/time.h"
#include <redlock/result.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace redlock::coordinator {

struct GivenSetting {
  std::string value;
  std::string origin;    // "--ttl", "REDLOCK_NODES", "/etc/redlock/redlock.conf:3"
  bool is_flag = false;  // a mistake in a flag is a usage error, elsewhere one of configuration
};

class GivenSettings {
 public:
  // Replaces what an earlier origin said.
  void set(std::string name, GivenSetting setting) {
    values_[std::move(name)] = std::move(setting);
  }
  const GivenSetting* find(std::string_view name) const;

 private:
  std::map<std::string, GivenSetting, std::less<>> values_;
};

inline constexpr std::string_view kDefaultSettingsFile = "/etc/redlock/redlock.conf";

// Adds what `text`, the file's contents, says. The error names file, line and what is accepted.
Status add_settings_file(const std::string& file, std::string_view text, GivenSettings& settings);

}  // namespace redlock::coordinator
