// Reading configuration text: files, the environment, standard input and flags become Settings.
//
//   Configuration configuration;
//   const Status read = read_config_file("/etc/redlock/a.conf", read_file, configuration);
//
// The format is redis.conf's: a line is a name and its words, quoted where they hold blanks; a line
// that starts with # is a comment; the last line for a name wins; `include FILE` reads another file
// in its place. The first bad line ends the reading; its failure names the file, the line, what
// stands there and why it cannot be taken, and is meant to be shown as it is.
//
// A variable of the environment is a line, too: REDLOCK_NODE_MAX_TTL=10s is `max-ttl 10s`. Its
// value is in one piece, blanks and quotes and all; that of a list is split at blanks.
//
// Pure: files come through ReadFile, so a test hands in a map.
#pragma once

#include "server/settings/settings.h"
#include <redlock/result.h>

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::server {

// The bytes of a file, or why they cannot be had ("No such file or directory").
using ReadFile = std::function<Result<std::string>(const std::string& path)>;

struct Configuration {
  Settings settings;
  std::vector<std::string> warnings;  // one line each, for the log
};

// source: how messages call the text, such as "standard input". Relative paths of `include` are
// left to read_file.
Status read_config_text(std::string_view text, std::string_view source, const ReadFile& read_file,
                        Configuration& configuration);

Status read_config_file(const std::string& path, const ReadFile& read_file,
                        Configuration& configuration);

// environment: NAME=VALUE as the system has them, in any order. A name that begins with
// REDLOCK_NODE_ has to be a setting's, so that a slip is noticed; others are left alone.
Status read_environment(std::span<const std::string> environment, const ReadFile& read_file,
                        Configuration& configuration);

// One directive that stands on no line: a flag, already taken apart into words.
Status apply_flag(std::string_view name, const std::vector<std::string>& words,
                  const ReadFile& read_file, Configuration& configuration);

}  // namespace redlock::server
