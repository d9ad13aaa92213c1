// What was given, word by word: where the command of `run` begins, and what a slip may have meant.
#include "base/text/guess.h"
#include "base/text/printable.h"
#include "coordinator/cli/command_line_parts.h"

#include <algorithm>

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

std::string unknown_subcommand(const CLI::App& app, const std::string& word) {
  std::vector<std::string> names;
  for (const CLI::App* one : subcommands_of(app)) names.push_back(one->get_name());
  return did_you_mean("subcommand", word, {names.begin(), names.end()});
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

}  // namespace

std::vector<std::string> split_off_command(const CLI::App& app, std::vector<std::string> words,
                                           std::vector<std::string>& command) {
  if (!words.empty() && words.front() == "help") {
    words.erase(words.begin());
    words.emplace_back("--help");
    return words;
  }
  const std::vector<std::size_t> plain = places_of_plain_words(app, words);
  if (plain.empty() || words[plain.front()] != "run") return words;
  auto end = std::find(words.begin(), words.end(), "--");
  auto begin = end == words.end() ? end : end + 1;
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
  for (std::size_t i = 0; i < words.size() && words[i] != "--" && !has_own; ++i) {
    const bool is_long = words[i].size() > 2 && words[i].starts_with("--");
    if (is_long && option_of(app, subcommand, words[i]) == nullptr) {
      return unknown_option(app, subcommand, words[i]);
    }
    const bool is_subcommand = !plain.empty() && i == plain.front();
    if (is_subcommand && subcommand == nullptr) return unknown_subcommand(app, words[i]);
  }
  return {};
}

}  // namespace redlock::coordinator
