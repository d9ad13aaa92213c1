// redlock drill: picks the drill; and the words of it that are none: check, which judges a history,
// of a drill or of anybody's own system, and client and command, which a drill starts.
#include "coordinator/commands/drill.h"

#include "coordinator/cli/node_report.h"
#include "coordinator/cli/output.h"
#include "coordinator/commands/commands.h"
#include "coordinator/drill/clients/client_process.h"
#include "coordinator/drill/history/check_report.h"
#include "coordinator/drill/runs/command_process.h"
#include "coordinator/drill/timeline/timeline.h"
#include "coordinator/drill/world/history_file.h"

#include <fmt/format.h>

namespace redlock::coordinator {
namespace {

int check_history(const Options& options) {
  const auto history = drill::read_history(options.drill.history_files);
  if (!history) {
    complain(history.error().text);
    return exit_code::kData;
  }
  const drill::Story story = drill::tell(history.value());
  const drill::Report report = drill::check(history.value(), story);
  const auto text = options.json ? drill::report_json : drill::report_text;
  print_text(text(history.value(), story, report));
  if (!options.drill.html_file.empty() &&
      !write_file(options.drill.html_file, drill::timeline_html(history.value(), story, report))) {
    return exit_code::kOutput;
  }
  return report.is_clean() ? exit_code::kDone : exit_code::kNo;
}

int be_client(const Options& options) {
  const Status ended = drill::run_client_process({.name = options.name,
                                                  .seed = options.drill.seed,
                                                  .client = options.client,
                                                  .ttl = options.ttl,
                                                  .wait = options.wait.value_or(0ns),
                                                  .fence = options.fence,
                                                  .reply_time = options.drill.reply_time,
                                                  .locks = options.drill.locks,
                                                  .in_line = options.drill.in_line,
                                                  .store = options.drill.store,
                                                  .history_file = options.drill.history_file});
  if (ended) return exit_code::kDone;
  complain(ended.error().text);
  return exit_code::kNo;
}

int be_command(const Options& options) {
  const auto kind = drill::command_kind_of(options.drill.kind);
  if (!kind) return exit_code::kUsage;
  const Status ended = drill::run_command_process({.hold = options.name,
                                                   .kind = *kind,
                                                   .length = options.drill.length,
                                                   .store = options.drill.store,
                                                   .board = options.drill.board,
                                                   .run = options.drill.run});
  if (ended) return exit_code::kDone;
  complain(ended.error().text);
  return exit_code::kNo;
}

}  // namespace

int command_drill(const Options& options) {
  switch (options.drill.which) {
    case Drill::restart:
      return drill_restart(options);
    case Drill::chaos:
    case Drill::partition:
    case Drill::clock:
    case Drill::run:
      return drill_play(options);
    case Drill::check:
      return check_history(options);
    case Drill::client:
      return be_client(options);
    case Drill::command:
      return be_command(options);
  }
  return exit_code::kUsage;
}

}  // namespace redlock::coordinator
