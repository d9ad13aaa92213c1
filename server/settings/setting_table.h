// The table of all settings of redlock-node: how each is called, read, printed, and whether it can
// change while the node runs. The configuration file, the flags, CONFIG GET and CONFIG SET all go
// through it; config/redlock-node.conf describes it, and a test holds the two together.
//
//   Settings settings;
//   const auto applied = apply(settings, "max-ttl", words);   // one line of a file
//   for (const auto& [name, value] : get(settings, patterns)) …  // CONFIG GET
//   const auto changed = set(settings, names_and_values);     // CONFIG SET: all or nothing
//
// Names are read in any case. Nothing here keeps a view beyond the call.
#pragma once

#include "server/settings/setting_values.h"
#include "server/settings/settings.h"
#include <redlock/result.h>

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redlock::server {

struct Setting {
  enum class Change {
    at_start,  // by file and flags alone
    running,   // by CONFIG SET, too
    never,     // one answer, for clients that ask; CONFIG SET takes that answer only
  };

  std::string_view name;
  std::string_view alias;    // another name of Redis for it, or empty
  std::string_view accepts;  // completes "NAME takes …"
  Change change;
  bool is_list;  // takes any number of words
  Result<Applied> (*read)(Settings& settings, const std::vector<std::string>& words);
  std::string (*print)(const Settings& settings);
};

std::span<const Setting> setting_table();

// By name or alias; nullptr when there is none.
const Setting* find_setting(std::string_view name);

// One line of configuration: a name and its words. A failure says what is wrong and what is
// accepted, and leaves the settings as they were.
Result<Applied> apply(Settings& settings, std::string_view name,
                      const std::vector<std::string>& words);

// A value in one piece, as CONFIG SET has it, in the words of a line:
// that of a list is split at blanks.
std::vector<std::string> words_of_value(std::string_view name, std::string_view value);

// Names and values for CONFIG GET: every name and alias that one of the glob patterns matches, each
// once, in the table's order. Nothing where that takes more than kGlobStepsOfManyMax.
std::optional<std::vector<std::pair<std::string, std::string>>> get(
    const Settings& settings, std::span<const std::string_view> patterns);

// Whether TLS can go by these settings: it does from then on, or all is as it was.
using AcceptTls = std::function<Status(const Settings&)>;

// CONFIG SET: names and values in turn; the value of a list is split at blanks. All take effect or
// none. A failure is the whole reply, as Redis words it ("ERR CONFIG SET failed …"); a success
// holds warnings for the log. accept_tls is asked where one of them is of TLS; empty: nobody is.
Result<std::vector<std::string>> set(Settings& settings,
                                     std::span<const std::string_view> names_and_values,
                                     const AcceptTls& accept_tls = {});

// What only the settings together show: a failure when a node with these settings would be of no
// use to anybody.
Status check(const Settings& settings);

// Sentences for the log of every start: what these settings give up (rule L3).
std::vector<std::string> cautions(const Settings& settings);

// Whether the value is a secret that no log line should show.
bool is_secret(std::string_view name);

// The folder of the ledger and the snapshot: `dir`, or redlock-node-PORT beside where it started,
// by tls-port where there is no other.
std::string state_directory(const Settings& settings);

}  // namespace redlock::server
