// config/redlock-node.conf is the manual of the settings: held together with the table here.
//
// In it a line "#name value" (no blank after the #) is a setting at its default, and what stands in
// "# …" lines above it is its description.
#include "server/settings/configuration.h"
#include "server/settings/setting_table.h"

#include <fstream>
#include <map>
#include <sstream>

#include <catch2/catch.hpp>

namespace redlock::server {
namespace {

std::vector<std::string> manual() {
  std::ifstream file(REDLOCK_SOURCE_DIR "/config/redlock-node.conf");
  REQUIRE(file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

bool is_setting(const std::string& line) {
  return line.size() > 1 && line[0] == '#' && line[1] >= 'a' && line[1] <= 'z';
}

// How often each name stands in the manual as a setting.
std::map<std::string, int> described() {
  std::map<std::string, int> names;
  for (const std::string& line : manual()) {
    if (is_setting(line)) ++names[line.substr(1, line.find(' ') - 1)];
  }
  return names;
}

}  // namespace

TEST_CASE("every setting is described in the manual once, and nothing else is") {
  auto names = described();
  for (const Setting& setting : setting_table()) {
    INFO(setting.name);
    CHECK(names[std::string(setting.name)] == 1);
    names.erase(std::string(setting.name));
  }
  for (const auto& [name, count] : names) {
    INFO(name);
    CHECK(count == 0);
  }
}

TEST_CASE("the manual as it is changes nothing; with every # taken off neither") {
  std::string as_it_is;
  std::string switched_on;
  for (const std::string& line : manual()) {
    as_it_is += line + "\n";
    switched_on += (is_setting(line) ? line.substr(1) : line) + "\n";
  }
  const ReadFile no_file = [](const std::string&) -> Result<std::string> {
    return Failure{"no file here"};
  };
  for (const std::string& text : {as_it_is, switched_on}) {
    Configuration configuration;
    const Status read = read_config_text(text, "redlock-node.conf", no_file, configuration);
    CHECK(read.error().text.empty());
    CHECK(configuration.warnings.empty());
    const Settings defaults;
    for (const Setting& setting : setting_table()) {
      INFO(setting.name);
      CHECK(setting.print(configuration.settings) == setting.print(defaults));
    }
  }
}

TEST_CASE("every setting of the manual has words of its own above it, but in the last section") {
  const std::vector<std::string> lines = manual();
  for (std::size_t at = 1; at < lines.size(); ++at) {
    if (!is_setting(lines[at])) continue;
    INFO(lines[at]);
    CHECK((lines[at - 1].starts_with("# ") || is_setting(lines[at - 1])));
  }
}

TEST_CASE("the manual says which settings CONFIG SET can change") {
  std::string block;
  for (const std::string& line : manual()) {
    if (line.empty()) block.clear();
    block += line + "\n";
    if (!is_setting(line)) continue;
    const Setting* setting = find_setting(line.substr(1, line.find(' ') - 1));
    REQUIRE(setting != nullptr);
    if (setting->change == Setting::Change::never) continue;
    INFO(line);
    const bool says_so = block.find("CONFIG SET") != std::string::npos;
    CHECK(says_so == (setting->change == Setting::Change::running));
  }
}

}  // namespace redlock::server
