// redlock drill chaos: clients work under locks while nodes and clients are killed and stopped.
#include "base/duration_text.h"
#include "coordinator/drill/chaos.h"
#include "coordinator/drill/folder.h"
#include "coordinator/drill/progress.h"
#include "coordinator/drill/verdict.h"
#include "coordinator/local_group.h"
#include "coordinator/node_report.h"
#include "coordinator/word_drill.h"

#include <cstdio>
#include <utility>

#include <fmt/format.h>

namespace redlock::coordinator {
namespace {

ChaosSettings settings_of(const Options& options, std::string node_program) {
  return {.node_program = std::move(node_program),
          .length = options.length,
          .seed = options.seed,
          .clients = static_cast<std::size_t>(options.clients),
          .locks = options.locks,
          .ttl = options.ttl,
          .node_timeout = options.node_timeout,
          .clock_drift = options.clock_drift};
}

std::string figures(const ChaosProgress& progress) {
  return fmt::format("faults: {} of nodes, {} of clients; {} holds, {} writes, {} refused",
                     progress.node_faults, progress.client_faults, progress.holds, progress.writes,
                     progress.refused_writes);
}

void tell(const Options& options, const std::string& text) {
  if (!options.json) static_cast<void>(std::fputs((text + "\n").c_str(), stdout));
  static_cast<void>(std::fflush(stdout));
}

Status play(ChaosDrill& drill, const Options& options) {
  if (auto begun = drill.begin(); !begun) return begun;
  DrillProgress bar(options.length, options.json);
  return drill.play(
      [&](const ChaosProgress& progress) { bar.show(progress.passed, figures(progress)); });
}

int fail(const DrillStage& stage, const std::string& text) {
  if (stage.interrupted() != 0) return exit_code::of_signal(stage.interrupted());
  complain(text);
  return exit_code::kNo;
}

}  // namespace

int drill_chaos(const Options& options) {
  DrillStage stage;
  const DrillFolder folder;
  if (folder.path().empty())
    return fail(stage, "no temporary folder can be made; TMPDIR names another");
  if (auto made = make_result_folder(options.out_folder); !made) return fail(stage, made.error());
  const auto program =
      options.node_program.empty() ? find_node_program() : find_program(options.node_program);
  if (!program) return fail(stage, program.error());
  tell(options, fmt::format("{} of chaos, seed {}: {} clients, {} locks, five nodes of {}",
                            duration_text(options.length), options.seed, options.clients,
                            options.locks, program.value()));
  ChaosDrill drill(stage, folder.path(), settings_of(options, program.value()));
  const Status played = play(drill, options);
  const Status ended = drill.end();
  if (!played) return fail(stage, played.error());
  if (!ended) return fail(stage, ended.error());
  const auto verdict = judge(drill.history_files(), options.out_folder, options.json);
  if (!verdict) return fail(stage, verdict.error());
  fmt::print("{}\n", verdict.value().text);
  if (!verdict.value().is_clean) return exit_code::kNo;
  return stage.interrupted() == 0 ? exit_code::kDone : exit_code::of_signal(stage.interrupted());
}

}  // namespace redlock::coordinator
