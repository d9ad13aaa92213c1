// redlock-sim: the shipped nodes and coordinators in a simulated world. See docs/proof.md.
#include "base/text/json.h"
#include "base/text/number.h"
#include "tests/simulation/memory.h"
#include "tests/simulation/shrink.h"
#include "tests/simulation/sweep.h"

#include <cstdio>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <thread>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace redlock::simulation {
namespace {

constexpr int kNothingFound = 0;
constexpr int kFound = 1;
constexpr int kProvesNothing = 2;
constexpr int kUsage = 64;
// Among so many worlds whose clocks break their bounds some must have had two holders.
constexpr std::uint64_t kShowsWithin = 200;

struct Options {
  std::optional<std::uint64_t> seed;
  std::string seeds = "1..1000";
  std::optional<double> minutes;
  std::string faults;
  std::string also;
  Mix mix;
  bool clocks_break = false;
  bool trace = false;
  bool messages = false;
  bool json = false;
  bool no_shrink = false;
  bool must_find = false;
  std::string replay;
  std::string save;
  unsigned jobs = std::max(1U, std::thread::hardware_concurrency());

  Story::Telling telling() const {
    if (messages) return Story::Telling::messages;
    return trace ? Story::Telling::events : Story::Telling::nothing;
  }
};

int complain(const std::string& text) {
  fmt::print(stderr, "redlock-sim: {}\n", text);
  return kUsage;
}

std::string hash_text(std::uint64_t hash) {
  return fmt::format("{:016x}", hash);
}

// --- what was found

void print_story(const Outcome& outcome) {
  for (const std::string& line : outcome.story) fmt::print("{}\n", line);
}

void print_scenario(const Scenario& scenario) {
  fmt::print("\nThe scenario, for --replay:\n\n{}", write_scenario(scenario));
}

int write_file(const std::string& path, const Scenario& scenario) {
  std::ofstream file(path);
  file << write_scenario(scenario);
  file.close();
  if (!file) return complain(fmt::format("{} cannot be written", path));
  fmt::print("\nThe scenario is in {}: redlock-sim --replay {}\n", path, path);
  return kFound;
}

// As short as it can be told, and as a file that replays.
int tell(const Options& options, const Scenario& scenario, const Violation& violation) {
  Scenario told = scenario;
  if (!options.no_shrink) {
    Shrunk shrunk = shrink(scenario, violation.breach, [&](const Scenario& simpler) {
      if (isatty(STDERR_FILENO) != 0) {
        fmt::print(stderr, "\rshrinking: {} events  ", simpler.events.size());
      }
    });
    fmt::print("\nShrunk from {} events to {}, in {} runs.\n", scenario.events.size(),
               shrunk.scenario.events.size(), shrunk.runs);
    told = std::move(shrunk.scenario);
  }
  fmt::print("\n{:>13}  {:<9} {:>16}  {}\n", "true time", "who", "its clock", "what");
  print_story(run(told, options.messages ? Story::Telling::messages : Story::Telling::events));
  if (!options.save.empty()) return write_file(options.save, told);
  print_scenario(told);
  return kFound;
}

// --- one run

JsonObject json_of(const Outcome& outcome) {
  JsonObject json = {{"hash", hash_text(outcome.hash)},
                     {"steps", outcome.steps},
                     {"faults", outcome.faults},
                     {"acquired", outcome.acquired},
                     {"extended", outcome.extended},
                     {"overlaps", outcome.overlaps},
                     {"simulated_ms", floor_ms(outcome.simulated)}};
  if (outcome.violation) {
    json.add("violation",
             JsonObject{{"breach", breach_name(outcome.violation->breach)},
                        {"text", outcome.violation->text},
                        {"true_time_ns", outcome.violation->when.time_since_epoch().count()}});
  }
  return json;
}

int run_one(const Options& options, const Scenario& scenario) {
  const Outcome outcome = run(scenario, options.telling());
  print_story(outcome);
  if (options.json) {
    fmt::print("{}\n", json_of(outcome).text());
  } else {
    fmt::print("{} steps, {} faults, {} locks acquired, {} extensions, hash {}\n", outcome.steps,
               outcome.faults, outcome.acquired, outcome.extended, hash_text(outcome.hash));
  }
  if (!outcome.violation) return kNothingFound;
  if (options.json) return kFound;
  fmt::print("VIOLATION ({}): {}\n", breach_name(outcome.violation->breach),
             outcome.violation->text);
  return options.trace ? kFound : tell(options, scenario, *outcome.violation);
}

int replay(const Options& options) {
  std::ifstream file(options.replay);
  if (!file) return complain(fmt::format("{} cannot be read", options.replay));
  std::stringstream text;
  text << file.rdbuf();
  const auto scenario = read_scenario(text.str());
  if (!scenario) return complain(fmt::format("{}: {}", options.replay, scenario.error().text));
  return run_one(options, scenario.value());
}

// --- many

std::optional<Sweep::Range> range_of(const Options& options) {
  const std::size_t dots = options.seeds.find("..");
  if (dots == std::string::npos) return std::nullopt;
  const auto number = [](const std::string& text) -> std::uint64_t {
    const bool is_number = !text.empty() && text.size() < 19 &&
                           text.find_first_not_of("0123456789") == std::string::npos;
    return is_number ? std::stoull(text) : 0;
  };
  Sweep::Range range{.first = number(options.seeds.substr(0, dots)),
                     .last = number(options.seeds.substr(dots + 2)),
                     .jobs = options.jobs};
  if (options.minutes) {
    range.time = std::chrono::duration<double>(*options.minutes * 60);
    range.last = UINT64_MAX - 1;
  }
  if (range.first == 0 || range.last < range.first) return std::nullopt;
  return range;
}

void show_progress(const SweepResult& result) {
  if (isatty(STDERR_FILENO) == 0) return;
  fmt::print(stderr, "\r{} seeds, {:.0f}/s, {:.1f} simulated hours, {} faults ", result.seeds,
             result.seeds_per_second(), result.simulated.count() / 3600, result.faults);
}

void print_sums(const Options& options, const SweepResult& result) {
  const double hours = result.simulated.count() / 3600;
  if (options.json) {
    JsonObject json = {{"seeds", result.seeds},
                       {"seconds", result.took.count()},
                       {"simulated_hours", hours},
                       {"faults", result.faults},
                       {"acquired", result.acquired},
                       {"extended", result.extended},
                       {"called", result.called},
                       {"called_before_others", result.called_before_others},
                       {"runs_with_two_holders", result.runs_with_overlap},
                       {"stuck", result.stuck},
                       {"hash", hash_text(result.hash)}};
    if (result.first_failing) {
      const auto found =
          run(make_scenario(*result.first_failing, options.mix), Story::Telling::nothing);
      json.add("seed", *result.first_failing);
      json.add("breach", breach_name(found.violation->breach));
      json.add("text", found.violation->text);
    }
    fmt::print("{}\n", json.text());
    return;
  }
  if (isatty(STDERR_FILENO) != 0) fmt::print(stderr, "\r\033[K");
  fmt::print(
      "{} seeds in {:.1f} s ({:.0f}/s): {:.1f} simulated hours, {} steps, {} faults, {} locks "
      "acquired, {} extensions, {} waiters called ({} with others behind them), hash {}\n",
      result.seeds, result.took.count(), result.seeds_per_second(), hours, result.steps,
      result.faults, result.acquired, result.extended, result.called, result.called_before_others,
      hash_text(result.hash));
  if (options.mix.rosters) fmt::print("{} groups need an operator to go on\n", result.stuck);
  if (options.clocks_break) {
    fmt::print("two holders at once in {} runs, as clocks broke their bounds\n",
               result.runs_with_overlap);
  }
  if (options.mix.doors) {
    fmt::print("two holders at once in {} runs, as answers of doors came too late\n",
               result.runs_with_overlap);
  }
}

int sweep(const Options& options) {
  const auto range = range_of(options);
  if (!range) return complain("--seeds wants a range such as 1..1000");
  const SweepResult result = Sweep(*range, options.mix).run(show_progress);
  print_sums(options, result);
  if (!result.first_failing) {
    const bool must_show = options.clocks_break || options.mix.doors;
    const bool may_be_blind = must_show && result.seeds >= kShowsWithin;
    if (!may_be_blind || result.runs_with_overlap > 0) return kNothingFound;
    fmt::print(stderr,
               "redlock-sim: no run had two holders: the check has not been seen to work\n");
    return kProvesNothing;
  }
  const Scenario scenario = make_scenario(*result.first_failing, options.mix);
  const Outcome outcome = run(scenario, Story::Telling::nothing);
  if (options.json) return kFound;
  fmt::print("VIOLATION with seed {} ({}): {}\n", *result.first_failing,
             breach_name(outcome.violation->breach), outcome.violation->text);
  return tell(options, scenario, *outcome.violation);
}

// --- the command line

// False: one of the names is none of these.
bool read_deeds(const std::string& list, const std::vector<Deed>& known, std::vector<Deed>& deeds) {
  std::stringstream names(list);
  for (std::string name; std::getline(names, name, ',');) {
    const auto found = std::find_if(known.begin(), known.end(),
                                    [&](Deed deed) { return deed_name(deed) == name; });
    if (found == known.end()) return false;
    deeds.push_back(*found);
  }
  return true;
}

bool read_faults(Options& options) {
  const std::vector<Deed> known = faults_of(!options.clocks_break);
  options.mix.clocks_hold = !options.clocks_break;
  if (options.faults.empty()) {
    options.mix.faults = known;
    return true;
  }
  if (options.faults == "none") return true;
  return read_deeds(options.faults, known, options.mix.faults);
}

std::string names_of(const std::vector<Deed>& deeds) {
  std::string names;
  for (const Deed deed : deeds) names += ", " + std::string(deed_name(deed));
  return names.substr(2);
}

std::string known_faults(bool clocks_hold) {
  return "none, " + names_of(faults_of(clocks_hold));
}

void describe(CLI::App& app, Options& options) {
  app.add_option("--seed", options.seed, "run this seed alone");
  app.add_option("--seeds", options.seeds, "run this range of seeds, A..B (1..1000)");
  app.add_option("--minutes", options.minutes, "run seeds for so long");
  app.add_option("--faults", options.faults,
                 fmt::format("only these, separated by commas: {}", known_faults(true)));
  app.add_option(
      "--also", options.also,
      fmt::format("besides, what is in no mix by itself: {}", names_of(faults_on_demand())));
  app.add_flag("--counters-apart", options.mix.counters_apart,
               "the nodes' counters of tokens begin far from each other");
  app.add_flag("--rosters", options.mix.rosters,
               "the group has a roster, and members are replaced, added and removed");
  app.add_flag(
      "--doors", options.mix.doors,
      "naive users go through front doors, whose answers come too late in one of ten seeds");
  app.add_option("--nodes", options.mix.nodes, "so many nodes (3 or 5)")->check(CLI::Range(1U, 9U));
  app.add_option("--clients", options.mix.clients, "so many clients (2 to 4)")
      ->check(CLI::Range(1U, 16U));
  app.add_flag("--clocks-break", options.clocks_break,
               "a world in which clocks break their bounds: locks may have two holders there, and "
               "tokens must rise all the same");
  app.add_option("--replay", options.replay, "run the scenario of this file");
  app.add_flag("--trace", options.trace, "tell what happens, with --seed or --replay");
  app.add_flag("--messages", options.messages, "the same, with every message");
  app.add_flag("--no-shrink", options.no_shrink, "tell a failure as it was found");
  app.add_option("--save", options.save, "write the scenario of a failure to this file");
  app.add_option("--jobs", options.jobs, "threads (as many as there are cores)")
      ->check(CLI::Range(1U, 256U));
  app.add_flag("--must-find", options.must_find,
               "end with 0 if a violation was found, with 1 if none was");
  app.add_flag("--json", options.json, "the results as JSON");
}

int start(Options& options) {
  if (options.mix.doors && options.mix.rosters) {
    return complain("--doors and --rosters do not go together yet");
  }
  if (!read_faults(options)) {
    return complain(fmt::format("--faults: {}", known_faults(!options.clocks_break)));
  }
  if (!read_deeds(options.also, faults_on_demand(), options.mix.also)) {
    return complain(fmt::format("--also: {}", names_of(faults_on_demand())));
  }
  if (!options.replay.empty()) return replay(options);
  if (options.seed) return run_one(options, make_scenario(*options.seed, options.mix));
  return sweep(options);
}

int main(int argc, char** argv) {
  CLI::App app("The shipped lock nodes and coordinators in a simulated world, from seeds.",
               "redlock-sim");
  Options options;
  describe(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kNothingFound : kUsage;
  }
  const int status = start(options);
  if (!options.must_find || (status != kFound && status != kNothingFound)) return status;
  return status == kFound ? kNothingFound : kFound;
}

}  // namespace
}  // namespace redlock::simulation

int main(int argc, char** argv) {
  redlock::simulation::settle_memory();
  return redlock::simulation::main(argc, argv);
}
