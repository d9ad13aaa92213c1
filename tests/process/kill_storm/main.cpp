// The kill storm: kill -9 at random instants of busy nodes, 25 at a time, and what the starts after
// it make of the locks, against a record that the clients kept. victim.h has the checks.
//
//   kill_storm NODE-PROGRAM [--kills N] [--seed N] [--slow] [--must-see] [-- NODE-FLAG…]
//
// Exits 0 if no check failed, 1 if one did. --slow: of a program built with sanitizers; how late a
// delay ends, and a first grant comes, is not looked at. --must-see: the flags make the node
// unsafe, and it exits 0 only if locks were seen to be granted again before their deadline.
#include "base/text/number.h"
#include "coordinator/process/process_launch.h"
#include "tests/process/kill_storm/victim.h"
#include "tests/process/node_process.h"
#include "tests/process/ports.h"
#include "tests/support/temporary_folder.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <memory>
#include <poll.h>
#include <string_view>

#include <fmt/format.h>

namespace redlock::kill_storm {
namespace {

constexpr int kVictims = 25;
constexpr Duration kFirstGrantAfterEnd = 20ms;  // median
constexpr std::size_t kDefectsShown = 20;

struct Arguments {
  StormOptions storm;
  std::uint64_t seed = 0;
  bool must_see = false;
};

bool read_arguments(int argc, char** argv, Arguments& to) {
  if (argc < 2) return false;
  to.storm.node_program = argv[1];
  for (int i = 2; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--") {
      to.storm.node_flags.assign(argv + i + 1, argv + argc);
      return true;
    }
    if (word == "--slow") {
      to.storm.checks_time = false;
      continue;
    }
    if (word == "--must-see") {
      to.must_see = true;
      continue;
    }
    const auto number = i + 1 < argc ? parse_int64(argv[++i]) : std::nullopt;
    if (!number || *number <= 0) return false;
    if (word == "--kills") {
      to.storm.kills = static_cast<int>(*number);
    } else if (word == "--seed") {
      to.seed = static_cast<std::uint64_t>(*number);
    } else {
      return false;
    }
  }
  return true;
}

using Victims = std::vector<std::unique_ptr<Victim>>;

void wait_for_the_next(const Victims& victims) {
  constexpr Duration kAtMost = 5ms;
  std::vector<pollfd> descriptors;
  Instant next = now() + kAtMost;
  for (const auto& victim : victims) {
    next = std::min(next, victim->next_step());
    if (victim->descriptor() >= 0) {
      descriptors.push_back({.fd = victim->descriptor(), .events = POLLIN, .revents = 0});
    }
  }
  const Duration wait = std::max<Duration>(next - now(), 0ns);
  const timespec time{.tv_sec = 0, .tv_nsec = static_cast<long>(wait.count())};
  ppoll(descriptors.data(), descriptors.size(), &time, nullptr);
}

// Until every node is done with its last kill.
void run(Victims& victims) {
  while (!victims.empty()) {
    std::erase_if(victims, [](const auto& victim) { return !victim->step(); });
    wait_for_the_next(victims);
  }
}

double median_ms(std::vector<Duration> times) {
  if (times.empty()) return 0;
  std::sort(times.begin(), times.end());
  return std::chrono::duration<double, std::milli>(times[times.size() / 2]).count();
}

double largest_ms(const std::vector<Duration>& times) {
  if (times.empty()) return 0;
  return std::chrono::duration<double, std::milli>(*std::max_element(times.begin(), times.end()))
      .count();
}

int tell(const Findings& findings, const Arguments& arguments) {
  fmt::print(
      "{} kills, {} grants: {} with a delay, {} with no lock live, {} within a delay, {} of "
      "a node without a processor; the delay ended {:.1f} ms after the latest deadline "
      "(median; {:.1f} at most), the first grant came {:.1f} ms after it (median; {:.1f})\n",
      findings.kills, findings.grants, findings.with_delay, findings.without_a_lock,
      findings.within_the_delay, findings.in_a_wider_window, median_ms(findings.end_after_deadline),
      largest_ms(findings.end_after_deadline), median_ms(findings.first_grant_after_end),
      largest_ms(findings.first_grant_after_end));
  const std::size_t shown = std::min(findings.defects.size(), kDefectsShown);
  for (std::size_t i = 0; i < shown; ++i) fmt::print("{}\n", findings.defects[i]);
  bool good = findings.defects.empty();
  if (findings.with_delay == 0 || findings.without_a_lock == 0) {
    fmt::print("the storm did not try both: kills with a live lock and kills without\n");
    good = false;
  }
  if (arguments.storm.checks_time &&
      median_ms(findings.first_grant_after_end) >
          std::chrono::duration<double, std::milli>(kFirstGrantAfterEnd).count()) {
    fmt::print("the first grants come too late\n");
    good = false;
  }
  if (!good) fmt::print("{} defects; seed {}\n", findings.defects.size(), arguments.seed);
  return good ? 0 : 1;
}

int tell_what_was_seen(const Findings& findings) {
  const auto seen = std::count_if(
      findings.defects.begin(), findings.defects.end(),
      [](const std::string& text) { return text.find("granted again") != std::string::npos; });
  fmt::print("{} kills: {} locks were granted again before their deadline\n", findings.kills, seen);
  return seen > 0 ? 0 : 1;
}

int storm(const Arguments& arguments) {
  const TemporaryFolder folder;
  Random random(arguments.seed);
  Findings findings;
  Victims victims;
  for (int i = 0; i < std::min(kVictims, arguments.storm.kills); ++i) {
    auto node = std::make_unique<NodeProcess>(
        NodeProcess::Settings{.program = arguments.storm.node_program,
                              .folder = fmt::format("{}/{}", folder.path(), i),
                              .port = reserve_ports(1),
                              .flags = arguments.storm.node_flags});
    if (!node->bootstrap()) {
      fmt::print("{} --bootstrap failed\n", arguments.storm.node_program);
      return 1;
    }
    victims.push_back(
        std::make_unique<Victim>(std::move(node), random(), arguments.storm, findings));
  }
  run(victims);
  return arguments.must_see ? tell_what_was_seen(findings) : tell(findings, arguments);
}

}  // namespace
}  // namespace redlock::kill_storm

int main(int argc, char** argv) {
  using namespace redlock;
  kill_storm::Arguments arguments;
  arguments.seed = static_cast<std::uint64_t>(kill_storm::now().time_since_epoch().count());
  if (!kill_storm::read_arguments(argc, argv, arguments)) {
    fmt::print(stderr,
               "usage: kill_storm NODE-PROGRAM [--kills N] [--seed N] [--slow] [--must-see] "
               "[-- NODE-FLAG…]\n");
    return 64;
  }
  const coordinator::SignalIgnored no_pipe(SIGPIPE);
  return kill_storm::storm(arguments);
}
