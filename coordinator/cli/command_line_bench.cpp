// The command line of `redlock bench`.
#include "base/text/duration_text.h"
#include "coordinator/cli/command_line_parts.h"

#include <fmt/format.h>

namespace redlock::coordinator {
namespace {

// Each has a request at every node at a time, and a link takes no more than a few thousand.
constexpr int kInFlightMax = 1000;

}  // namespace

void add_bench(CLI::App& app, Flags& flags, Options& options) {
  CLI::App& subcommand =
      *app.add_subcommand("bench", "how many locks the nodes give to this machine, and how fast");
  add_setting(subcommand, flags, "--for", "for",
              fmt::format("how long it goes on ({})", duration_text(options.bench.length)), "D");
  subcommand.add_option("--in-flight", options.bench.in_flight, "how many locks at once (50)")
      ->check(CLI::Range(1, kInFlightMax));
  add_setting(subcommand, flags, "--ttl", "ttl", "how long each is locked for at most (30s)", "D");
  subcommand.add_flag("--no-fence", flags.no_fence, "one round trip only, no token");
}

Problem read_bench(const GivenSettings& settings, Options& options) {
  return read_length(settings, options.bench.length);
}

}  // namespace redlock::coordinator
