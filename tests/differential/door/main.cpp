// redlock-door-differential: generated requests to a front door over five nodes and to one node,
// all in this process; every reply must be the same. See docs/proof.md.
#include "base/text/number.h"
#include "tests/differential/door/door_match.h"

#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace redlock::differential {
namespace {

struct Seeds {
  std::uint64_t first = 1;
  std::uint64_t last = 1;
};

std::optional<Seeds> read_seeds(const std::string& text) {
  const std::size_t dots = text.find("..");
  const auto first = parse_int64(std::string_view(text).substr(0, dots));
  const auto last =
      dots == std::string::npos ? first : parse_int64(std::string_view(text).substr(dots + 2));
  if (!first || !last || *first < 1 || *last < *first) return std::nullopt;
  return Seeds{static_cast<std::uint64_t>(*first), static_cast<std::uint64_t>(*last)};
}

void tell(std::uint64_t seed, const Sequence& sequence, const DoorDifference& difference,
          bool whole) {
  fmt::print("seed {} differs at its step {}:\n", seed, difference.step + 1);
  constexpr std::size_t kShown = 25;
  const std::size_t from = whole || difference.step < kShown ? 0 : difference.step - kShown;
  for (std::size_t at = from; at <= difference.step; ++at) {
    fmt::print("{}\n", write_step(sequence[at]));
  }
  fmt::print("# door: {}\n# node: {}\n", difference.door, difference.node);
}

int play(Seeds seeds, unsigned doors, std::size_t steps, bool whole) {
  const Generator generator = door_generator();
  std::uint64_t compared = 0;
  for (std::uint64_t seed = seeds.first; seed <= seeds.last; ++seed) {
    DoorMatch match(doors);
    const Sequence sequence = door_sequence(generator, seed, steps);
    const auto difference = match.play(sequence);
    compared += match.compared();
    if (!difference) continue;
    tell(seed, sequence, *difference, whole);
    return 1;
  }
  fmt::print("{} requests alike\n", compared);
  return 0;
}

}  // namespace
}  // namespace redlock::differential

int main(int argc, char** argv) {
  CLI::App app("Generated requests to a front door over five nodes, and to one node.");
  std::string text = "1..100";
  unsigned doors = 1;
  std::size_t steps = 150;
  bool whole = false;
  app.add_option("--seeds", text, "from..to, or one");
  app.add_option("--doors", doors, "that take turns")->check(CLI::Range(1, 5));
  app.add_option("--commands", steps, "of a sequence");
  app.add_flag("--whole", whole, "tell all of a sequence that differs");
  CLI11_PARSE(app, argc, argv);
  const auto seeds = redlock::differential::read_seeds(text);
  if (!seeds) {
    fmt::print(stderr, "redlock-door-differential: --seeds wants from..to\n");
    return 64;
  }
  return redlock::differential::play(*seeds, doors, steps, whole);
}
