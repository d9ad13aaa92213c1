// redlock drill restart: the classic story on real nodes, with the restart delay off and on.
#include "coordinator/cli/node_report.h"
#include "coordinator/commands/drill.h"
#include "coordinator/drill/restart.h"
#include "coordinator/drill/world/folder.h"
#include "coordinator/process/local_nodes.h"

#include <fmt/format.h>

namespace redlock::coordinator {
namespace {

class RestartCommand {
 public:
  explicit RestartCommand(const Options& options)
      : options_(options), report_(stage_, options.json) {}

  int run() {
    const bool is_told = tell();
    if (stage_.interrupted() != 0) return exit_code::of_signal(stage_.interrupted());
    if (problem_) return exit_code::kNo;
    report_.end_drill(is_told);
    return is_told ? exit_code::kDone : exit_code::kNo;
  }

 private:
  bool on_own_nodes();
  bool on_nodes_elsewhere();
  bool tell_halves(drill::Nodes& nodes, bool with_violation);
  bool tell() {
    if (folder_.path().empty()) return fail(drill::Folder::kNone);
    return options_.client.nodes.empty() ? on_own_nodes() : on_nodes_elsewhere();
  }
  bool fail(const std::string& text) {
    problem_ = true;
    if (stage_.interrupted() == 0) complain(text);
    return false;
  }

  const Options& options_;
  drill::Folder folder_;
  drill::Stage stage_;
  drill::StepReport report_;
  bool problem_ = false;
};

bool RestartCommand::on_own_nodes() {
  const auto program = options_.drill.node_program.empty()
                           ? find_node_program()
                           : find_program(options_.drill.node_program);
  if (!program) return fail(program.error().text);
  drill::OwnNodes nodes(stage_, folder_.path(), program.value(), options_.ttl);
  if (auto looked = nodes.look_at_program(); !looked) return fail(looked.error().text);
  report_.step({"begin", fmt::format("A drill with five nodes of {}, in {}", program.value(),
                                     folder_.path())});
  if (!nodes.has_restart_delay()) {
    report_.step({"no_restart_delay",
                  "It is no redlock-node and has no restart delay: both halves are alike to it"});
  }
  return tell_halves(nodes, true);
}

bool RestartCommand::on_nodes_elsewhere() {
  drill::NodesElsewhere nodes(stage_, options_.client.nodes.front(),
                              {options_.drill.kill_command, options_.drill.start_command,
                               folder_.path() + "/commands.log"});
  report_.step(
      {"begin", fmt::format("A drill with {} nodes that run already", options_.node_count)});
  if (!nodes.has_restart_delay()) {
    report_.step({"one_half",
                  "Their restart-delay cannot be set from here ({restart-delay} in --start-command "
                  "would): only the half with the refusal is told"});
  }
  return tell_halves(nodes, nodes.has_restart_delay());
}

// The second half is told whatever the first came to: both are what an operator wants to know.
bool RestartCommand::tell_halves(drill::Nodes& nodes, bool with_violation) {
  const drill::RestartDrillSettings settings{
      .ttl = options_.ttl, .client = options_.client, .empty_folder = folder_.path() + "/nowhere"};
  drill::RestartDrill drill(stage_, nodes, report_, settings);
  bool as_told = true;
  if (with_violation) as_told = drill.tell(drill::RestartDrill::Half::violation);
  if (stage_.interrupted() != 0) return false;
  return drill.tell(drill::RestartDrill::Half::refusal) && as_told;
}

}  // namespace

int drill_restart(const Options& options) {
  RestartCommand command(options);
  return command.run();
}

}  // namespace redlock::coordinator
