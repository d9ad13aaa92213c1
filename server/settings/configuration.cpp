#include "server/settings/configuration.h"

#include "base/invariant.h"
#include "base/text/quoted_words.h"
#include "base/text/words.h"
#include "server/settings/setting_table.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace redlock::server {
namespace {

constexpr int kIncludeDepthMax = 16;  // deeper is a file that includes itself
constexpr std::string_view kVariablePrefix = "REDLOCK_NODE_";

// The line as a message may show it: a password stays out of logs.
std::string shown(std::string_view line) {
  const std::string_view name = line.substr(0, line.find_first_of(kWordBlanks));
  if (name.size() < line.size() && is_secret(name)) return fmt::format("{} (not shown)", name);
  return std::string(line);
}

Failure fatal(std::string_view place, std::string_view line, std::string_view reason) {
  return Failure{fmt::format("*** FATAL CONFIG FILE ERROR (redlock-node) ***\n{}\n>>> '{}'\n{}",
                             place, line, reason)};
}

// A word that starts with # was most likely meant as a comment.
std::string reason_with_hint(const std::string& reason, const std::vector<std::string>& words) {
  const bool comment = std::any_of(words.begin(), words.end(),
                                   [](const std::string& word) { return word.starts_with('#'); });
  if (!comment) return reason;
  return reason + " (a comment needs a line of its own)";
}

// MAX_TTL of REDLOCK_NODE_MAX_TTL is max-ttl.
std::string setting_of_variable(std::string_view variable) {
  std::string name(variable);
  for (char& letter : name) {
    if (letter == '_') letter = '-';
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return name;
}

// Of a variable that is no setting the value may be anything, a password too.
std::string shown_variable(std::string_view variable, std::string_view setting,
                           std::string_view value) {
  const bool hidden = find_setting(setting) == nullptr || is_secret(setting);
  return fmt::format("{}={}", variable, hidden ? "(not shown)" : value);
}

// Reads one text, and what it includes, into the configuration.
class Reader {
 public:
  Reader(std::string_view source, const ReadFile& read_file, Configuration& configuration,
         int depth)
      : source_(source), read_file_(read_file), configuration_(configuration), depth_(depth) {}

  Status read(std::string_view text) {
    for (int number = 1; !text.empty(); ++number) {
      const std::string_view line = trimmed(take_line(text));
      if (line.empty() || line.starts_with('#')) continue;
      if (Status done = read_line(line, number); !done) return done;
    }
    warn_of_meaningless();
    return Done{};
  }

  // number 0: a flag, which stands on no line.
  Status read_words(std::string_view name, const std::vector<std::string>& words,
                    std::string_view line, int number) {
    if (equals_ignoring_case(name, "include")) return include(words, line, number);
    if (equals_ignoring_case(name, "user")) return keep_user(words, line, number);
    if (equals_ignoring_case(name, "bootstrap")) {
      return fatal(
          place(number), line,
          "bootstrap is a deed, done once on the command line for a node of a new group "
          "(redlock-node --bootstrap --dir FOLDER); a node that did it at every start would "
          "forget its promises each time");
    }
    const auto applied = apply(configuration_.settings, name, words);
    if (!applied) {
      return fatal(place(number), shown(line), reason_with_hint(applied.error().text, words));
    }
    if (!applied.value().warning.empty()) {
      configuration_.warnings.push_back(
          fmt::format("{}: {}: {}", where(number), name, applied.value().warning));
    }
    if (!applied.value().meaningless.empty()) {
      std::vector<std::string>& names = meaningless_[applied.value().meaningless];
      if (std::find(names.begin(), names.end(), name) == names.end()) names.emplace_back(name);
    }
    return Done{};
  }

  // An existing redis.conf holds dozens of them: one warning for each reason, not for each line.
  void warn_of_meaningless() {
    for (const auto& [reason, names] : meaningless_) {
      configuration_.warnings.push_back(fmt::format("{}: without effect here, as {}: {}", source_,
                                                    reason, fmt::join(names, ", ")));
    }
  }

 private:
  Status read_line(std::string_view line, int number) {
    auto words = split_quoted_words(line);
    if (!words) {
      return fatal(place(number), shown(line),
                   "the quotes of this line do not balance: a word starts and ends with the same "
                   "quote, and a blank follows it");
    }
    INVARIANT(!words->empty(), "a line of nothing but blanks was passed over");
    const std::string name = std::move(words->front());
    words->erase(words->begin());
    return read_words(name, *words, line, number);
  }

  // A user's rules are about commands, which are the node's matter: it reads them when it starts.
  Status keep_user(const std::vector<std::string>& words, std::string_view line, int number) {
    if (words.empty()) {
      return fatal(place(number), shown(line),
                   "user takes a name and rules, as in 'user team-a on >secret ~team-a:* +@lock'");
    }
    std::string kept = "user";
    for (const std::string& word : words) kept += " " + quoted_word(word);
    configuration_.settings.users.push_back(std::move(kept));
    return Done{};
  }

  Status include(const std::vector<std::string>& words, std::string_view line, int number) {
    if (words.size() != 1) return fatal(place(number), line, "include takes one file");
    if (words[0].find_first_of("*?[") != std::string::npos) {
      return fatal(place(number), line,
                   "include takes one file, without wildcards: name each on a line of its own");
    }
    if (depth_ == kIncludeDepthMax) {
      return fatal(place(number), line, "files include each other too deeply: is it a circle?");
    }
    const auto text = read_file_(words[0]);
    if (!text) return fatal(place(number), line, text.error().text);
    return Reader(words[0], read_file_, configuration_, depth_ + 1).read(text.value());
  }

  std::string place(int number) const {
    if (number == 0) return fmt::format("Reading {}", source_);
    return fmt::format("Reading {}, at line {}", source_, number);
  }

  std::string where(int number) const {
    return number == 0 ? std::string(source_) : fmt::format("{}:{}", source_, number);
  }

  std::string_view source_;
  const ReadFile& read_file_;
  Configuration& configuration_;
  int depth_;
  std::map<std::string_view, std::vector<std::string>> meaningless_;  // by reason
};

}  // namespace

Status read_config_text(std::string_view text, std::string_view source, const ReadFile& read_file,
                        Configuration& configuration) {
  return Reader(source, read_file, configuration, 0).read(text);
}

Status read_config_file(const std::string& path, const ReadFile& read_file,
                        Configuration& configuration) {
  const auto text = read_file(path);
  if (!text) {
    return Failure{
        fmt::format("the configuration file '{}' cannot be read: {}", path, text.error().text)};
  }
  return read_config_text(text.value(), path, read_file, configuration);
}

Status read_environment(std::span<const std::string> environment, const ReadFile& read_file,
                        Configuration& configuration) {
  std::vector<std::string_view> ours;
  for (const std::string_view entry : environment) {
    if (entry.starts_with(kVariablePrefix)) ours.push_back(entry);
  }
  std::sort(ours.begin(), ours.end());
  Reader reader("the environment", read_file, configuration, 0);
  for (const std::string_view entry : ours) {
    const std::size_t equals = std::min(entry.find('='), entry.size());
    const std::string_view variable = entry.substr(0, equals);
    const std::string_view value = entry.substr(std::min(equals + 1, entry.size()));
    const std::string name = setting_of_variable(variable.substr(kVariablePrefix.size()));
    Status done = reader.read_words(name, words_of_value(name, value),
                                    shown_variable(variable, name, value), 0);
    if (!done) return done;
  }
  reader.warn_of_meaningless();
  return Done{};
}

Status apply_flag(std::string_view name, const std::vector<std::string>& words,
                  const ReadFile& read_file, Configuration& configuration) {
  const std::string line = fmt::format("{} {}", name, fmt::join(words, " "));
  Reader reader("the command line", read_file, configuration, 0);
  Status done = reader.read_words(name, words, trimmed(line), 0);
  if (done) reader.warn_of_meaningless();
  return done;
}

}  // namespace redlock::server
