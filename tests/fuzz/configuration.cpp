// A file of settings: whatever stands in it, it is read or refused with its line, and what was read
// is printed so that it reads back the same.
#include "server/settings/configuration.h"

#include "server/settings/setting_table.h"
#include "tests/fuzz/target.h"

#include <string>

namespace redlock::fuzz {
namespace {

using namespace redlock::server;

Result<std::string> read_file(const std::string& path) {
  if (path == "b.conf") return std::string("port 7001\n");
  return Failure{"No such file or directory"};
}

void check_reads_back(const Settings& settings) {
  for (const Setting& setting : setting_table()) {
    if (setting.change == Setting::Change::never) continue;
    const std::string printed = setting.print(settings);
    Settings read = settings;
    INVARIANT(setting.read(read, words_of_value(setting.name, printed)),
              "a setting as it is printed is refused");
    INVARIANT(setting.print(read) == printed, "a setting reads back as another");
  }
}

}  // namespace

void run(std::string_view input) {
  Configuration configuration;
  const Status read = read_config_text(input, "a.conf", read_file, configuration);
  INVARIANT(read || read.error().text.starts_with("*** FATAL CONFIG FILE ERROR"),
            "a refusal in another shape");
  check_reads_back(configuration.settings);
  static_cast<void>(check(configuration.settings));
  static_cast<void>(cautions(configuration.settings));
}

}  // namespace redlock::fuzz
