// redlock admit: gives unfenced nodes their part in tokens again, and says what became of each.
#include "base/text/json.h"
#include "coordinator/cli/node_report.h"
#include "coordinator/cli/output.h"
#include "coordinator/commands/commands.h"
#include "coordinator/commands/session.h"

#include <algorithm>

#include <fmt/format.h>

namespace redlock::coordinator {
namespace {

bool is_any_new(const Admitted& admitted) {
  return std::any_of(admitted.nodes.begin(), admitted.nodes.end(),
                     [](const NodeAdmission& node) { return node.admitted; });
}

void print_json(const Admitted& admitted) {
  JsonArray nodes;
  for (const NodeAdmission& node : admitted.nodes) {
    nodes.add(JsonObject{{"node", node.answer.node},
                         {"answer", answer_name(node.answer.kind)},
                         {"text", node.answer.text},
                         {"fenced", node.fenced},
                         {"admitted", node.admitted}});
  }
  JsonObject all = {{"outcome", is_any_new(admitted) ? "admitted" : "nothing to do"},
                    {"nodes", nodes}};
  if (is_any_new(admitted)) all.add("floor", admitted.floor);
  print_out("{}\n", all.text());
}

void print_lines(const Admitted& admitted) {
  std::size_t width = 0;
  for (const NodeAdmission& node : admitted.nodes) width = std::max(width, node.answer.node.size());
  for (const NodeAdmission& node : admitted.nodes) {
    print_out("{:<{}}  {}\n", node.answer.node, width, node.answer.text);
  }
  if (!is_any_new(admitted)) print_out("nothing to do\n");
}

}  // namespace

int command_admit(const Options& options, CommandSession& session) {
  const auto done = [&](const Result<Admitted, Error>& result) {
    if (!result) {
      report_failure(options, result.error());
      return session.finish(exit_code_of(result.error()));
    }
    options.json ? print_json(result.value()) : print_lines(result.value());
    session.finish(exit_code::kDone);
  };
  return session.run([&] { session.client().admit(options.admit, done); });
}

}  // namespace redlock::coordinator
