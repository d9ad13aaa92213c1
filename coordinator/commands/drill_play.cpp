// redlock drill chaos, partition, clock, run: clients work under locks while something befalls the
// nodes, the network, the clocks or the clients. Each is a row of a table: what befalls whom,
// where, who works, and what the drill has to show beyond the rules of locks.
#include "base/invariant.h"
#include "base/text/duration_text.h"
#include "coordinator/cli/node_report.h"
#include "coordinator/cli/output.h"
#include "coordinator/cli/progress.h"
#include "coordinator/commands/drill.h"
#include "coordinator/drill/history/check.h"
#include "coordinator/drill/history/partition_check.h"
#include "coordinator/drill/plan/chaos_plan.h"
#include "coordinator/drill/plan/clock_plan.h"
#include "coordinator/drill/plan/partition_plan.h"
#include "coordinator/drill/plan/run_plan.h"
#include "coordinator/drill/planned_drill.h"
#include "coordinator/drill/runs/runs_at_work.h"
#include "coordinator/drill/surroundings/jumping_clocks.h"
#include "coordinator/drill/surroundings/partition.h"
#include "coordinator/drill/surroundings/relayed_network.h"
#include "coordinator/drill/verdict.h"
#include "coordinator/drill/world/folder.h"
#include "coordinator/drill/world/history_file.h"
#include "coordinator/process/local_nodes.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include <fmt/format.h>

namespace redlock::coordinator {
namespace {

struct PlayedDrill {
  Drill which;
  const char* name;
  const char* needs;  // for people, on a machine that does not allow it
  std::vector<drill::PlannedFault> (*plan)(const drill::PlanTerms& terms);
  // Before anything that could have another thread.
  Status (*enter)();
  std::unique_ptr<drill::Surroundings> (*surround)(drill::Stage& stage, const std::string& folder);
  drill::Shown (*look)(const drill::History& history, const Options& options);
  decltype(drill::PlannedDrillSettings::make_clients) make_clients =
      drill::make_workers<drill::ClientsAtWork>;
  bool has_line = false;     // of clients that wait: where nothing is done to wall clocks
  bool has_changes = false;  // of the group: --replace
};

// --- partition

// What an attempt takes at most when nodes are silent: its own patience, the node timeout of its
// last try, and a busy machine.
constexpr Duration kMoreThanTheAttempt = 1s;

drill::Shown look_at_partitions(const drill::History& history, const Options& options) {
  const Duration attempt_max = options.ttl / 2 + options.client.node_timeout + kMoreThanTheAttempt;
  drill::PartitionReport report =
      drill::check_partitions(history, {.ttl = options.ttl, .attempt_max = attempt_max});
  return {report.text(), std::move(report.differences)};
}

// --- clock

// That no lock ends early is what the checker looks for; this is the other half. A lock that nobody
// has any more is gone from the nodes at most the drift allowance after its holder stopped relying
// on it, and they who wait for it try again at once: a TTL is far more than that takes.
drill::Shown look_at_clocks(const drill::History& history, const Options& options) {
  const drill::TimeRange gap =
      drill::check(history, drill::tell(history)).summary.availability.longest;
  drill::Shown shown{
      fmt::format("no lock outlasted its holder by more than {}", spoken_duration(gap.length())),
      {}};
  if (gap.length() > options.ttl) {
    shown.differences.push_back(fmt::format("a lock that nobody had could not be had for {}",
                                            spoken_duration(gap.length())));
  }
  return shown;
}

// --- chaos --replace

// What a change of the group may cost the others.
constexpr Duration kGapOfAChangeMax = 1s;

drill::Shown look_at_changes(const drill::History& history, const Options& /*options*/) {
  const drill::GroupChanges changes = drill::check(history, drill::tell(history)).summary.changes;
  const Duration gap = changes.longest_undisturbed.length();
  const Duration without = changes.longest_without.length();
  drill::Shown shown{
      fmt::format("{} changes of the group, {} of them without another fault: a lock was "
                  "kept from all for at most {} then, a client got no quorum for at most {}",
                  changes.count(), changes.undisturbed, spoken_duration(gap),
                  spoken_duration(without)),
      {}};
  if (gap > kGapOfAChangeMax) {
    shown.differences.push_back(
        fmt::format("a change of the group kept a lock from all for {}", spoken_duration(gap)));
  }
  if (without > kGapOfAChangeMax) {
    shown.differences.push_back(
        fmt::format("a client got no quorum for {}", spoken_duration(without)));
  }
  return shown;
}

// --- all

template <class T>
std::unique_ptr<drill::Surroundings> surround(drill::Stage& stage, const std::string& folder) {
  return std::make_unique<T>(stage, folder);
}

std::unique_ptr<drill::Surroundings> surround_with_relays(drill::Stage& stage,
                                                          const std::string& folder) {
  return std::make_unique<drill::RelayedNetwork>(stage.loop(), folder);
}

constexpr std::array kPlayedDrills = {
    PlayedDrill{.which = Drill::chaos,
                .name = "chaos",
                .needs = "With fewer --clients it needs fewer.",
                .plan = drill::plan_faults,
                .enter = nullptr,
                .surround = surround_with_relays,
                .look = nullptr,
                .has_line = true},
    PlayedDrill{.which = Drill::chaos,
                .name = "chaos with changes of the group",
                .needs = "With fewer --clients it needs fewer.",
                .plan = drill::plan_faults_and_calm,
                .enter = nullptr,
                .surround = surround_with_relays,
                .look = look_at_changes,
                .has_changes = true},
    PlayedDrill{
        .which = Drill::partition,
        .name = "partition",
        .needs =
            "This drill makes a network of its own in a user namespace, without root. It needs ip "
            "and tc (package iproute2), nft (package nftables), and the kernel's leave: sysctl "
            "user.max_user_namespaces above 0, kernel.unprivileged_userns_clone 1 and "
            "kernel.apparmor_restrict_unprivileged_userns 0 where they exist, in a container no "
            "filter of unshare(2).",
        .plan = drill::plan_partitions,
        .enter = drill::enter_own_namespaces,
        .surround = surround<drill::PartitionedNetwork>,
        .look = look_at_partitions},
    PlayedDrill{
        .which = Drill::clock,
        .name = "clock",
        .needs = "This drill moves each process's wall clock by libfaketime (package libfaketime).",
        .plan = drill::plan_clock_jumps,
        .enter = nullptr,
        .surround = surround<drill::JumpingClocks>,
        .look = look_at_clocks},
    PlayedDrill{.which = Drill::run,
                .name = "run",
                .needs = "With fewer --clients it needs fewer.",
                .plan = drill::plan_run_faults,
                .enter = nullptr,
                .surround = surround_with_relays,
                .look = nullptr,
                .make_clients = drill::make_workers<drill::RunsAtWork>},
};

drill::PlannedDrillSettings settings_of(const PlayedDrill& drill, const Options& options,
                                        std::string node_program) {
  return {.name = drill.name,
          .plan = drill.plan,
          .make_clients = drill.make_clients,
          .node_program = std::move(node_program),
          .length = options.drill.length,
          .seed = options.drill.seed,
          .clients = static_cast<std::size_t>(options.drill.clients),
          .locks = options.drill.locks,
          .ttl = options.ttl,
          .client = options.client,
          .has_line = drill.has_line,
          .has_changes = drill.has_changes,
          .doors = static_cast<std::size_t>(options.drill.doors),
          .naive = options.drill.naive};
}

std::string figures(const drill::PlannedDrillProgress& progress) {
  return fmt::format(
      "faults: {} of nodes, {}{} of clients; {}{} holds, {} writes, {} refused",
      progress.node_faults,
      progress.door_faults == 0 ? "" : fmt::format("{} of doors, ", progress.door_faults),
      progress.client_faults,
      progress.changes == 0 ? "" : fmt::format("{} changes; ", progress.changes), progress.holds,
      progress.writes, progress.refused_writes);
}

void tell(const Options& options, const std::string& text) {
  if (!options.json) print_out("{}\n", text);
  flush_output();
}

Status play(drill::PlannedDrill& drill, const Options& options) {
  if (auto begun = drill.begin(); !begun) return begun;
  DrillProgress bar(options.drill.length, options.json);
  return drill.play([&](const drill::PlannedDrillProgress& progress) {
    bar.show(progress.passed, figures(progress));
  });
}

int fail(const drill::Stage& stage, const std::string& text) {
  if (stage.interrupted() != 0) return exit_code::of_signal(stage.interrupted());
  complain(text);
  return exit_code::kNo;
}

// Nothing would be found, whatever the nodes do.
int refuse_plan(const drill::PlannedDrillSettings& settings) {
  complain(
      fmt::format("drill {}: nothing would go wrong within {} at a TTL of {}; it needs a longer "
                  "--for or a shorter --ttl",
                  settings.name, spoken_duration(settings.length), spoken_duration(settings.ttl)));
  return exit_code::kUsage;
}

void show(const drill::Shown& shown, const Options& options) {
  if (!shown.text.empty()) tell(options, shown.text);
  for (const std::string& difference : shown.differences) {
    complain("not as it should be: " + difference);
  }
}

int judge_drill(const PlayedDrill& drill, const Options& options, const drill::Stage& stage,
                const std::vector<std::string>& files) {
  drill::Look look;
  if (drill.look != nullptr) {
    look = [&](const drill::History& history) { return drill.look(history, options); };
  }
  const auto verdict = drill::judge(files, options.drill.out_folder, options.json, look);
  if (!verdict) return fail(stage, verdict.error().text);
  show(verdict.value().shown, options);
  print_text(verdict.value().text);
  tell(options, fmt::format("\nThe history is {0}/history.jsonl, the picture {0}/timeline.html.",
                            options.drill.out_folder));
  const bool is_as_it_should_be = verdict.value().shown.differences.empty();
  if (!verdict.value().is_clean || !is_as_it_should_be) return exit_code::kNo;
  return stage.interrupted() == 0 ? exit_code::kDone : exit_code::of_signal(stage.interrupted());
}

std::string doors_text(const Options& options) {
  const int doors = options.drill.doors;
  return doors == 0 ? "" : fmt::format("{} front door{}, ", doors, doors == 1 ? "" : "s");
}

int play_in(drill::Surroundings& surroundings, const PlayedDrill& drill, const Options& options,
            drill::Stage& stage, const drill::Folder& folder) {
  const auto program = options.drill.node_program.empty()
                           ? find_node_program()
                           : find_program(options.drill.node_program);
  if (!program) return fail(stage, program.error().text);
  const drill::PlannedDrillSettings settings = settings_of(drill, options, program.value());
  if (settings.planned().empty()) return refuse_plan(settings);
  if (auto made = drill::make_result_folder(options.drill.out_folder); !made)
    return fail(stage, made.error().text);
  tell(options, fmt::format("{} of {}, seed {}: {} clients, {} locks, {}five nodes of {}",
                            duration_text(options.drill.length), drill.name, options.drill.seed,
                            options.drill.clients, options.drill.locks, doors_text(options),
                            program.value()));
  drill::PlannedDrill planned(stage, folder.path(), settings, surroundings);
  const Status played = play(planned, options);
  const Status ended = planned.end();
  if (planned.history_files().empty()) return fail(stage, played.error().text);
  // What there is of a history is worth a look all the same.
  const int judged = judge_drill(drill, options, stage, planned.history_files());
  if (!played) return fail(stage, played.error().text);
  if (!ended) return fail(stage, ended.error().text);
  return judged;
}

// What a drill that this machine does not allow ends with.
int refuse(const PlayedDrill& drill, const std::string& why) {
  complain(fmt::format("drill {}: {}\n{}", drill.name, why, drill.needs));
  return exit_code::kDenied;
}

}  // namespace

int drill_play(const Options& options) {
  const auto drill =
      std::find_if(kPlayedDrills.begin(), kPlayedDrills.end(), [&](const PlayedDrill& played) {
        return played.which == options.drill.which && played.has_changes == options.drill.replace;
      });
  INVARIANT(drill != kPlayedDrills.end(), "a drill that is not played");
  if (drill->enter != nullptr) {
    if (auto entered = drill->enter(); !entered) return refuse(*drill, entered.error().text);
  }
  drill::Stage stage;
  const drill::Folder folder;
  if (folder.path().empty()) {
    complain(drill::Folder::kNone);
    return exit_code::kNo;
  }
  const auto surroundings = drill->surround(stage, folder.path());
  // Who talks to nodes.
  const auto clients = static_cast<std::size_t>(options.drill.doors > 0 ? options.drill.doors
                                                                        : options.drill.clients);
  const std::size_t nodes = drill->has_changes ? drill::kChangePlaces : drill::kNodes;
  if (auto ready = surroundings->set_up(nodes, clients); !ready) {
    if (stage.interrupted() != 0) return exit_code::of_signal(stage.interrupted());
    return refuse(*drill, ready.error().text);
  }
  return play_in(*surroundings, *drill, options, stage, folder);
}

}  // namespace redlock::coordinator
