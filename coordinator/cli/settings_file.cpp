#include "coordinator/cli/settings_file.h"

#include "base/text/printable.h"
#include "base/text/words.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace redlock::coordinator {
namespace {

constexpr std::array<std::string_view, 44> kNamesInFile = {
    "nodes", "password-file", "tls-ca", "tls-cert", "tls-key", "node-timeout", "clock-drift", "ttl",
    "wait", "max-hold", "signal", "kill-after", "no-fence", "unsafe-members", "label",
    // of a front door
    "listen", "listen-tls", "http", "http-tls", "http-names", "acquire-time", "reply-time",
    "max-ttl", "requirepass", "requirepass-file", "aclfile", "protected-mode", "maxclients",
    "timeout", "unixsocketperm", "tls-cert-file", "tls-key-file", "tls-key-file-pass",
    "tls-ca-cert-file", "tls-ca-cert-dir", "tls-auth-clients", "tls-auth-clients-user",
    "tls-protocols", "tls-ciphers", "tls-ciphersuites", "audit", "audit-format", "logfile",
    "loglevel"};

}  // namespace

const GivenSetting* GivenSettings::find(std::string_view name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? nullptr : &found->second;
}

Status add_settings_file(const std::string& file, std::string_view text, GivenSettings& settings) {
  for (int number = 1; !text.empty(); ++number) {
    const std::string_view line = trimmed(take_line(text));
    if (line.empty() || line.front() == '#') continue;
    const std::size_t blank = std::min(line.find_first_of(kWordBlanks), line.size());
    const std::string_view name = line.substr(0, blank);
    const std::string origin = fmt::format("{}:{}", file, number);
    if (std::find(kNamesInFile.begin(), kNamesInFile.end(), name) == kNamesInFile.end()) {
      return Failure{fmt::format("{}: '{}' is no setting; there are {}", origin, printable(name),
                                 fmt::join(kNamesInFile, ", "))};
    }
    const std::string_view value = trimmed(line.substr(blank));
    if (value.empty()) return Failure{fmt::format("{}: {} has no value", origin, name)};
    settings.set(std::string(name), {std::string(value), origin});
  }
  return Done{};
}

}  // namespace redlock::coordinator
