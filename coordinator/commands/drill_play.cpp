#include "coordinator/commands/drill_play.h"

#include "base/text/duration_text.h"
#include "coordinator/cli/node_report.h"
#include "coordinator/cli/progress.h"
#include "coordinator/drill/planned_drill.h"
#include "coordinator/drill/verdict.h"
#include "coordinator/drill/world/history_file.h"
#include "coordinator/process/local_nodes.h"

#include <cstdio>
#include <utility>

#include <fmt/format.h>

namespace redlock::coordinator {
namespace {

PlannedDrillSettings settings_of(const DrillToPlay& drill, const Options& options,
                                 std::string node_program) {
  return {.name = drill.name,
          .plan = drill.plan,
          .node_program = std::move(node_program),
          .length = options.drill.length,
          .seed = options.drill.seed,
          .clients = static_cast<std::size_t>(options.drill.clients),
          .locks = options.drill.locks,
          .ttl = options.ttl,
          .client = options.client};
}

std::string figures(const PlannedDrillProgress& progress) {
  return fmt::format("faults: {} of nodes, {} of clients; {} holds, {} writes, {} refused",
                     progress.node_faults, progress.client_faults, progress.holds, progress.writes,
                     progress.refused_writes);
}

void tell(const Options& options, const std::string& text) {
  if (!options.json) static_cast<void>(std::fputs((text + "\n").c_str(), stdout));
  static_cast<void>(std::fflush(stdout));
}

Status play(PlannedDrill& drill, const Options& options) {
  if (auto begun = drill.begin(); !begun) return begun;
  DrillProgress bar(options.drill.length, options.json);
  return drill.play(
      [&](const PlannedDrillProgress& progress) { bar.show(progress.passed, figures(progress)); });
}

int fail(const DrillStage& stage, const std::string& text) {
  if (stage.interrupted() != 0) return exit_code::of_signal(stage.interrupted());
  complain(text);
  return exit_code::kNo;
}

// Nothing would be found, whatever the nodes do.
int refuse_plan(const PlannedDrillSettings& settings) {
  complain(
      fmt::format("drill {}: nothing would go wrong within {} at a TTL of {}; it needs a longer "
                  "--for or a shorter --ttl",
                  settings.name, spoken_duration(settings.length), spoken_duration(settings.ttl)));
  return exit_code::kUsage;
}

// Whether the drill showed what it is there to show.
Result<bool> show(const DrillToPlay& drill, const Options& options) {
  if (drill.look == nullptr) return true;
  const auto history = read_history({options.drill.out_folder + "/history.jsonl"});
  if (!history) return history.error();
  const Shown shown = drill.look(history.value(), options);
  tell(options, shown.text);
  for (const std::string& difference : shown.differences) {
    complain("not as it should be: " + difference);
  }
  return shown.differences.empty();
}

int judge_drill(const DrillToPlay& drill, const Options& options, const DrillStage& stage,
                const std::vector<std::string>& files) {
  const auto verdict = judge(files, options.drill.out_folder, options.json);
  if (!verdict) return fail(stage, verdict.error().text);
  const auto as_it_should = show(drill, options);
  if (!as_it_should) return fail(stage, as_it_should.error().text);
  static_cast<void>(std::fputs(verdict.value().text.c_str(), stdout));
  tell(options, fmt::format("\nThe history is {0}/history.jsonl, the picture {0}/timeline.html.",
                            options.drill.out_folder));
  if (!verdict.value().is_clean || !as_it_should.value()) return exit_code::kNo;
  return stage.interrupted() == 0 ? exit_code::kDone : exit_code::of_signal(stage.interrupted());
}

}  // namespace

int play_drill(const DrillToPlay& drill, const Options& options, DrillStage& stage,
               const DrillFolder& folder, Surroundings& surroundings) {
  const auto program = options.drill.node_program.empty()
                           ? find_node_program()
                           : find_program(options.drill.node_program);
  if (!program) return fail(stage, program.error().text);
  const PlannedDrillSettings settings = settings_of(drill, options, program.value());
  if (settings.planned().empty()) return refuse_plan(settings);
  if (auto made = make_result_folder(options.drill.out_folder); !made)
    return fail(stage, made.error().text);
  tell(options, fmt::format("{} of {}, seed {}: {} clients, {} locks, five nodes of {}",
                            duration_text(options.drill.length), drill.name, options.drill.seed,
                            options.drill.clients, options.drill.locks, program.value()));
  PlannedDrill planned(stage, folder.path(), settings, surroundings);
  const Status played = play(planned, options);
  const Status ended = planned.end();
  if (planned.history_files().empty()) return fail(stage, played.error().text);
  // What there is of a history is worth a look all the same.
  const int judged = judge_drill(drill, options, stage, planned.history_files());
  if (!played) return fail(stage, played.error().text);
  if (!ended) return fail(stage, ended.error().text);
  return judged;
}

int without_folder() {
  complain("no temporary folder can be made; TMPDIR names another");
  return exit_code::kNo;
}

int refuse_drill(const DrillStage& stage, const std::string& name, const std::string& why,
                 const std::string& needs) {
  if (stage.interrupted() != 0) return exit_code::of_signal(stage.interrupted());
  return refuse_drill(name, why, needs);
}

int refuse_drill(const std::string& name, const std::string& why, const std::string& needs) {
  complain(fmt::format("drill {}: {}\n{}", name, why, needs));
  return exit_code::kDenied;
}

}  // namespace redlock::coordinator
