// What was given, word by word: where the command of `run` begins, and what a slip may have meant.
#include "base/text/guess.h"
#include "base/text/printable.h"
#include "coordinator/cli/command_line/command_line_parts.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include <fmt/format.h>

namespace redlock::coordinator {
namespace {

std::vector<const CLI::App*> subcommands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

const CLI::App* subcommand_named(const CLI::App& app, std::string_view word) {
  const auto known = subcommands_of(app);
  const auto found = std::find_if(known.begin(), known.end(),
                                  [word](const CLI::App* one) { return one->get_name() == word; });
  return found == known.end() ? nullptr : *found;
}

bool is_option(std::string_view word) {
  return word.size() > 1 && word.front() == '-';
}

const CLI::Option* option_of(const CLI::App& app, const CLI::App* subcommand,
                             const std::string& word) {
  const std::string name = word.substr(0, word.find('='));
  const CLI::Option* found =
      subcommand == nullptr ? nullptr : subcommand->get_option_no_throw(name);
  return found != nullptr ? found : app.get_option_no_throw(name);
}

// "-w 5s" and "--wait 5s"; not "-w5s" and "--wait=5s".
bool takes_next_word(const CLI::App& app, const CLI::App* subcommand, const std::string& word) {
  const CLI::Option* option = option_of(app, subcommand, word);
  return option != nullptr && word.find('=') == std::string::npos &&
         option->get_items_expected_max() > 0;
}

// The words that are no options and no values of options, by their places, up to `--`.
std::vector<std::size_t> places_of_plain_words(const CLI::App& app,
                                               const std::vector<std::string>& words) {
  std::vector<std::size_t> places;
  const CLI::App* subcommand = nullptr;
  for (std::size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
    if (is_option(words[i])) {
      if (takes_next_word(app, subcommand, words[i])) ++i;
      continue;
    }
    if (places.empty()) subcommand = subcommand_named(app, words[i]);
    places.push_back(i);
  }
  return places;
}

std::string did_you_mean(std::string_view kind, std::string_view word,
                         const std::vector<std::string_view>& known) {
  const std::string_view nearest = nearest_word(word, known);
  const std::string guess = nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest);
  return fmt::format("there is no {} '{}'{}", kind, printable(word.substr(0, 64)), guess);
}

// What other programs call it.
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kOtherNames = {
    {{"lock", "acquire"},
     {"unlock", "release"},
     {"exec", "run"},
     {"ls", "list"},
     {"version", "--version"}}};

std::string unknown_subcommand(const CLI::App& app, const std::string& word) {
  for (const auto& [other, ours] : kOtherNames) {
    if (word != other) continue;
    return fmt::format("there is no subcommand '{}'; did you mean '{}'?", word, ours);
  }
  std::vector<std::string> names = {"help"};
  for (const CLI::App* one : subcommands_of(app)) names.push_back(one->get_name());
  return did_you_mean("subcommand", word, {names.begin(), names.end()});
}

std::string unknown_word(const CLI::App& subcommand, const std::string& word) {
  std::vector<std::string> names;
  for (const CLI::App* one : subcommands_of(subcommand)) names.push_back(one->get_name());
  const std::string kind = fmt::format("word of {}", subcommand.get_name());
  return did_you_mean(kind, word, {names.begin(), names.end()});
}

std::string unknown_option(const CLI::App& app, const CLI::App* subcommand,
                           const std::string& word) {
  std::vector<std::string> names;
  for (const CLI::App* one : {&app, subcommand}) {
    if (one == nullptr) continue;
    for (const CLI::Option* option : one->get_options()) {
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
  }
  return did_you_mean("option", word.substr(0, word.find('=')), {names.begin(), names.end()});
}

// Whose values are secret, all of it or a part.
constexpr std::string_view kNodes = "--nodes";
constexpr std::string_view kValue = "--value";
constexpr std::string_view kPassword = "--requirepass";
constexpr std::string_view kPassphrase = "--tls-key-file-pass";

bool is_secret(std::string_view option) {
  return option == kValue || option == kPassword || option == kPassphrase;
}

// "redis://user:secret@host,…": each secret, in place.
void hide_passwords(std::span<char> nodes) {
  const std::string_view list(nodes.data(), nodes.size());
  for (std::size_t begin = 0; begin < list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    const std::string_view one = list.substr(begin, end - begin);
    const std::size_t at = one.rfind('@');
    if (at != std::string_view::npos) {
      const std::size_t scheme = one.find("://");
      std::size_t from = scheme == std::string_view::npos ? 0 : scheme + 3;
      const std::size_t colon = one.find(':', from);
      if (colon < at) from = colon + 1;
      for (std::size_t i = from; i < at; ++i) nodes[begin + i] = '*';
    }
    begin = end + 1;
  }
}

// What behind an option is secret: its value, in the same word or in the next.
void hide_value(std::string_view option, std::span<char> value) {
  if (option == kNodes) hide_passwords(value);
  if (is_secret(option)) std::fill(value.begin(), value.end(), '*');
}

}  // namespace

void hide_secrets(std::span<char*> words) {
  std::string_view option;
  for (char* word : words) {
    const std::span<char> all(word, std::strlen(word));
    const std::string_view text(word);
    const std::size_t equals = text.find('=');
    if (option == kNodes || is_secret(option)) {
      hide_value(std::exchange(option, {}), all);
    } else if (equals != std::string_view::npos && text.starts_with("--")) {
      hide_value(text.substr(0, equals), all.subspan(equals + 1));
    } else {
      option = text;
    }
  }
}

std::vector<std::string> split_off_command(const CLI::App& app, std::vector<std::string> words,
                                           std::vector<std::string>& command) {
  const std::vector<std::size_t> plain = places_of_plain_words(app, words);
  if (!plain.empty() && words[plain.front()] == "help") {
    words.erase(words.begin() + static_cast<std::ptrdiff_t>(plain.front()));
    words.emplace_back("--help");
    return words;
  }
  if (plain.empty() || words[plain.front()] != "run") return words;
  auto end = std::find(words.begin(), words.end(), "--");
  const bool has_name = plain.size() > 1;
  const bool names_behind = !has_name && words.end() - end > 1 && is_option(end[1]);
  if (names_behind) end += 2;  // a name that begins with -
  auto begin = end;
  if (begin != words.end() && *begin == "--") ++begin;
  constexpr std::size_t kSubcommandAndName = 2;
  if (plain.size() > kSubcommandAndName) {
    begin = end = words.begin() + static_cast<std::ptrdiff_t>(plain[kSubcommandAndName]);
  }
  command.assign(begin, words.end());
  words.erase(end, words.end());
  return words;
}

std::string slip_in(const CLI::App& app, const std::vector<std::string>& words) {
  const std::vector<std::size_t> plain = places_of_plain_words(app, words);
  const CLI::App* const subcommand =
      plain.empty() ? nullptr : subcommand_named(app, words[plain.front()]);
  const bool has_own = subcommand != nullptr && !subcommands_of(*subcommand).empty();
  if (has_own && plain.size() > 1 && subcommand_named(*subcommand, words[plain[1]]) == nullptr) {
    return unknown_word(*subcommand, words[plain[1]]);
  }
  for (std::size_t i = 0; i < words.size() && words[i] != "--" && !has_own; ++i) {
    const bool is_long = words[i].size() > 2 && words[i].starts_with("--");
    if (is_long && option_of(app, subcommand, words[i]) == nullptr) {
      return unknown_option(app, subcommand, words[i]);
    }
    const bool is_short = is_option(words[i]) && !words[i].starts_with("--");
    if (is_short && option_of(app, subcommand, words[i].substr(0, 2)) == nullptr) {
      return fmt::format("there is no option '{}'; a name that begins with - stands behind --",
                         printable(words[i].substr(0, 2)));
    }
    const bool is_subcommand = !plain.empty() && i == plain.front();
    if (is_subcommand && subcommand == nullptr) return unknown_subcommand(app, words[i]);
    if (is_option(words[i]) && takes_next_word(app, subcommand, words[i])) ++i;  // its value
  }
  return {};
}

}  // namespace redlock::coordinator
