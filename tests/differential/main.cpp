// redlock-differential: generated requests to redlock-node and redis-server side by side; every
// reply must be the same but for the list in docs/differences.md. See docs/proof.md.
#include "base/invariant.h"
#include "base/text/json.h"
#include "base/text/number.h"
#include "server/commands/families.h"
#include "server/node/command_table.h"
#include "tests/differential/categories.h"
#include "tests/differential/differences_document.h"
#include "tests/differential/generator.h"
#include "tests/differential/match.h"
#include "tests/differential/shrink.h"
#include "tests/differential/wanted_differences.h"

#include <chrono>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace redlock::differential {
namespace {

constexpr int kSame = 0;
constexpr int kDiffers = 1;
constexpr int kUsage = 64;
constexpr int kSkipped = 77;  // no redis-server on this machine

using Clock = std::chrono::steady_clock;

struct Options {
  std::string node = "build/redlock-node";
  std::string redis = "build/redis-server";
  std::optional<std::uint64_t> seed;
  std::string seeds = "1..100";
  std::size_t commands = 400;
  std::optional<double> minutes;
  std::uint64_t until = 0;  // requests
  std::string replay;
  std::string save;
  std::string survey;
  bool show = false;
  bool no_shrink = false;
  bool json = false;
  bool wanted = false;
  bool document = false;
};

struct Range {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};

int complain(const std::string& text) {
  fmt::print(stderr, "redlock-differential: {}\n", text);
  return kUsage;
}

std::optional<Range> range_of(const std::string& text) {
  const std::size_t dots = text.find("..");
  if (dots == std::string::npos) return std::nullopt;
  const auto first = parse_int64(std::string_view(text).substr(0, dots));
  const auto last = parse_int64(std::string_view(text).substr(dots + 2));
  if (!first || !last || *first < 1 || *last < *first) return std::nullopt;
  return Range{static_cast<std::uint64_t>(*first), static_cast<std::uint64_t>(*last)};
}

// The two servers and the match between them.
class Arena {
 public:
  Status start(const Options& options) {
    if (Status started = redis_.start_redis(options.redis); !started) return started;
    return node_.start_node(options.node);
  }

  Match& match() { return match_; }
  std::string differing_categories() {
    Link node(node_.socket_path());
    Link redis(redis_.socket_path());
    return differential::differing_categories(node, redis);
  }
  const Generator& generator() const { return generator_; }

 private:
  server::CommandTable commands_{server::all_families()};
  Generator generator_{commands_.specs()};
  ServerProcess node_;
  ServerProcess redis_;
  Match match_{node_, redis_};
};

// --- what was found

// The command whose replies differ: while shrinking, the same must.
std::string subject_of(const Sequence& sequence, const Difference& difference) {
  const Step& step = sequence[difference.step];
  return step.is_bytes ? std::string(kBytes) : lower_case(step.words[0]);
}

Sequence shrunk(Match& match, Sequence sequence, const Difference& difference) {
  const std::string subject = subject_of(sequence, difference);
  sequence.resize(difference.step + 1);
  const auto still_differs = [&](const Sequence& candidate) {
    const auto found = match.play(candidate);
    return found && subject_of(candidate, *found) == subject;
  };
  if (!still_differs(sequence)) return sequence;
  return shrink(std::move(sequence), still_differs).sequence;
}

// As short as it can be told. Returns its transcript.
std::string story_of(Match& match, const Options& options, Sequence sequence,
                     const Difference& difference) {
  if (!options.no_shrink) sequence = shrunk(match, std::move(sequence), difference);
  std::string transcript;
  const auto again = match.play(sequence, transcript);
  if (!again) {
    transcript += fmt::format(
        "# it did not differ when it was played again; at first:\n# node:  {}\n# redis: {}\n# {}\n",
        difference.node, difference.redis, difference.about);
  }
  if (again && !again->about.empty()) transcript += fmt::format("# {}\n", again->about);
  return transcript;
}

int tell(Arena& arena, const Options& options, const Sequence& sequence,
         const Difference& difference) {
  const std::string story = story_of(arena.match(), options, sequence, difference);
  fmt::print("\nThey differ:\n\n{}\n", story);
  if (options.save.empty()) return kDiffers;
  std::ofstream(options.save) << story;
  fmt::print("replay it: redlock-differential --replay {}\n", options.save);
  return kDiffers;
}

// --- many seeds

class Sweep {
 public:
  Sweep(Arena& arena, const Options& options, Range range)
      : arena_(arena), options_(options), range_(range) {}

  int run() {
    for (seed_ = range_.first; seed_ <= range_.last && !is_over(); ++seed_) {
      const Sequence sequence = arena_.generator().make(seed_, options_.commands);
      if (const auto found = arena_.match().play(sequence)) {
        if (options_.survey.empty()) return tell_found(sequence, *found);
        survey(sequence, *found);
      }
      if (!arena_.match().failure().empty()) return complain(arena_.match().failure());
      show_progress();
    }
    print_sums();
    return differences_ > 0 ? kDiffers : kSame;
  }

 private:
  bool is_over() const {
    const std::chrono::duration<double, std::ratio<60>> minutes = Clock::now() - began_;
    if (options_.minutes && minutes.count() >= *options_.minutes) return true;
    return options_.until > 0 && arena_.match().requests() >= options_.until;
  }

  double seconds() const { return std::chrono::duration<double>(Clock::now() - began_).count(); }

  int tell_found(const Sequence& sequence, const Difference& difference) {
    clear_line();
    fmt::print("seed {}, after {} requests\n", seed_, arena_.match().requests());
    return tell(arena_, options_, sequence, difference);
  }

  // Collects what differs instead of stopping at the first: once per command and pair of answers.
  void survey(const Sequence& sequence, const Difference& difference) {
    ++differences_;
    const auto begin_of = [](const std::string& text) {
      std::string begin = text.substr(0, 24);
      std::erase_if(begin, [](char c) { return c >= '0' && c <= '9'; });
      return begin;
    };
    const std::string key =
        subject_of(sequence, difference) + begin_of(difference.node) + begin_of(difference.redis);
    if (!seen_.insert(key).second) return;
    std::ofstream file(options_.survey, std::ios::app);
    file << fmt::format("### seed {}: {}\n{}\n", seed_, subject_of(sequence, difference),
                        story_of(arena_.match(), options_, sequence, difference));
  }

  void show_progress() {
    if (isatty(STDERR_FILENO) == 0 || Clock::now() < next_progress_) return;
    next_progress_ = Clock::now() + std::chrono::milliseconds(200);
    const auto requests = static_cast<double>(arena_.match().requests());
    fmt::print(stderr, "\rseed {}, {:.0f} requests, {:.0f}/s ", seed_, requests,
               requests / seconds());
  }

  static void clear_line() {
    if (isatty(STDERR_FILENO) != 0) fmt::print(stderr, "\r\033[K");
  }

  void print_sums() {
    clear_line();
    const Match& match = arena_.match();
    if (options_.json) {
      const JsonObject json = {{"seeds", seed_ - range_.first}, {"requests", match.requests()},
                               {"seconds", seconds()},          {"differences", differences_},
                               {"calls", match.calls()},        {"wanted", wanted()}};
      fmt::print("{}\n", json.text());
      return;
    }
    fmt::print("{} seeds, {} requests of {} commands in {:.1f} s ({:.0f}/s), {}\n",
               seed_ - range_.first, match.requests(), match.calls().size(), seconds(),
               static_cast<double>(match.requests()) / seconds(),
               differences_ == 0 ? "no difference but those wanted"
                                 : fmt::format("{} differences", differences_));
  }

  std::map<std::string, std::uint64_t> wanted() const {
    std::map<std::string, std::uint64_t> counts;
    for (const auto& [subject, count] : arena_.match().wanted())
      counts[std::string(subject)] = count;
    return counts;
  }

  Arena& arena_;
  const Options& options_;
  Range range_;
  Clock::time_point began_ = Clock::now();
  Clock::time_point next_progress_;
  std::uint64_t seed_ = 0;
  std::uint64_t differences_ = 0;
  std::set<std::string> seen_;
};

// --- the table of wanted differences, played

Sequence steps_of(std::string_view example) {
  std::string text;
  while (!example.empty()) {
    const std::size_t end = std::min(example.find("; "), example.size());
    text += fmt::format("> {}\n", example.substr(0, end));
    example.remove_prefix(std::min(end + 2, example.size()));
  }
  const auto sequence = read_sequence(text);
  INVARIANT(sequence, "an example of the table cannot be read");
  return sequence.value();
}

// Each differs still, and just as it stands there.
int play_wanted(Arena& arena) {
  Match& match = arena.match();
  int status = kSame;
  if (const std::string differing = arena.differing_categories(); !differing.empty()) {
    fmt::print("{}", differing);
    status = kDiffers;
  }
  for (const WantedDifference& wanted : wanted_differences()) {
    std::string transcript;
    match.play(steps_of(wanted.example), transcript);
    const std::string told = fmt::format("node:  {}\nredis: {}\n", wanted.node, wanted.redis);
    const bool differs = wanted.node == kTooLong ? transcript.find("node:  ") != std::string::npos
                                                 : transcript.ends_with(told);
    if (differs) continue;
    fmt::print("{}: it says\n{}but:\n{}", wanted.subject, told, transcript);
    status = kDiffers;
  }
  return status;
}

// --- one

int play_one(Arena& arena, const Options& options, const Sequence& sequence) {
  std::string transcript;
  const auto found = arena.match().play(sequence, transcript);
  if (options.show || !options.replay.empty()) fmt::print("{}", transcript);
  if (!found) {
    fmt::print("they answer alike\n");
    return kSame;
  }
  return options.replay.empty() ? tell(arena, options, sequence, *found) : kDiffers;
}

int replay(Arena& arena, const Options& options) {
  std::ifstream file(options.replay);
  if (!file) return complain(fmt::format("{} cannot be read", options.replay));
  std::stringstream text;
  text << file.rdbuf();
  const auto sequence = read_sequence(text.str());
  if (!sequence) return complain(sequence.error().text);
  return play_one(arena, options, sequence.value());
}

void describe(CLI::App& app, Options& options) {
  app.add_option("--node", options.node, "the redlock-node (build/redlock-node)");
  app.add_option("--redis", options.redis, "the redis-server, 7.0 (build/redis-server)");
  app.add_option("--seed", options.seed, "play this seed alone");
  app.add_option("--seeds", options.seeds, "play this range of seeds, A..B (1..100)");
  app.add_option("--commands", options.commands, "so many requests a seed (400)")
      ->check(CLI::Range(1U, 1'000'000U));
  app.add_option("--minutes", options.minutes, "play seeds for so long");
  app.add_option("--until", options.until, "play seeds until so many requests were made");
  app.add_option("--replay", options.replay, "play the transcript of this file");
  app.add_option("--save", options.save, "write the transcript of a difference to this file");
  app.add_option("--survey", options.survey,
                 "go on after a difference; add each that is new to this file");
  app.add_flag("--show", options.show, "tell the whole conversation, with --seed");
  app.add_flag("--no-shrink", options.no_shrink, "tell a difference as it was found");
  app.add_flag("--json", options.json, "the sums as JSON");
  app.add_flag("--wanted", options.wanted, "play the examples of docs/differences.md");
  app.add_flag("--document", options.document, "print docs/differences.md");
}

int start(const Options& options) {
  if (options.document) {
    fmt::print("{}", differences_document());
    return kSame;
  }
  auto range = range_of(options.seeds);
  if (!range) return complain("--seeds wants a range such as 1..100");
  if (options.minutes || options.until > 0) range->last = INT64_MAX;
  if (access(options.redis.c_str(), X_OK) != 0) {
    complain(fmt::format("there is no {}: install redis-tools", options.redis));
    return kSkipped;
  }
  Arena arena;
  if (const Status started = arena.start(options); !started) return complain(started.error().text);
  if (options.wanted) return play_wanted(arena);
  if (!options.replay.empty()) return replay(arena, options);
  if (options.seed) {
    return play_one(arena, options, arena.generator().make(*options.seed, options.commands));
  }
  return Sweep(arena, options, *range).run();
}

int main(int argc, char** argv) {
  CLI::App app("Generated requests to redlock-node and redis-server: every reply must be the same.",
               "redlock-differential");
  Options options;
  describe(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kSame : kUsage;
  }
  return start(options);
}

}  // namespace
}  // namespace redlock::differential

int main(int argc, char** argv) {
  return redlock::differential::main(argc, argv);
}
