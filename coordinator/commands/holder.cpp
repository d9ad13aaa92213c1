// redlock holder NAME: which value a quorum holds, for how long, and who says that it is his.
#include "base/text/json.h"
#include "base/time.h"
#include "coordinator/cli/node_report.h"
#include "coordinator/cli/output.h"
#include "coordinator/commands/client_value.h"
#include "coordinator/commands/commands.h"
#include "coordinator/commands/session.h"
#include "coordinator/health/holder_json.h"

#include <optional>
#include <utility>

#include <fmt/format.h>

namespace redlock::coordinator {
namespace {

void print_holder(const Options& options, const Holder& holder) {
  if (options.json) {
    JsonObject all = holder_json(options.name, holder, options.node_count);
    print_out("{}\n", with_client_value(std::move(all), holder).text());
    return;
  }
  const auto left = left_ms(holder);
  print_out("value    {}\nleft_ms  {}\ntoken    {}\nnodes    {} of {}\n", shown_value(holder),
            left ? std::to_string(*left) : "-",
            holder.token == 0 ? "-" : std::to_string(holder.token), holder.nodes,
            options.node_count);
  if (holder.label.empty()) return;
  print_out("label    {}\nheld_ms  {}\n", holder.label, floor_ms(holder.held));
}

void print_free(const Options& options) {
  if (!options.json) return print_out("free\n");
  const JsonObject all = {{"name", options.name}, {"held", false}};
  print_out("{}\n", all.text());
}

int tell(const Options& options, const Result<std::optional<Holder>, Error>& result) {
  if (!result) {
    report_failure(options, result.error());
    return exit_code_of(result.error());
  }
  if (!result.value()) {
    print_free(options);
    return exit_code::kNo;
  }
  print_holder(options, *result.value());
  return exit_code::kDone;
}

}  // namespace

int command_holder(const Options& options, CommandSession& session) {
  return session.run([&] {
    session.client().holder(options.name, [&](const Result<std::optional<Holder>, Error>& result) {
      session.finish(tell(options, result));
    });
  });
}

}  // namespace redlock::coordinator
