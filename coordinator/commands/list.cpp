// redlock list [PATTERN]: the locks that a quorum holds, and who says that they are his.
#include "base/text/duration_text.h"
#include "base/text/json.h"
#include "base/text/printable.h"
#include "coordinator/cli/node_report.h"
#include "coordinator/cli/output.h"
#include "coordinator/commands/client_value.h"
#include "coordinator/commands/commands.h"
#include "coordinator/commands/session.h"
#include "coordinator/health/holder_json.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace redlock::coordinator {
namespace {

using Locks = std::vector<ListedLock>;

// A longer name moves the rest of its line, as one that is cut could not be asked for.
constexpr std::size_t kNameWidthMax = 32;

void print_json(const Options& options, const Locks& locks) {
  JsonArray all;
  for (const ListedLock& lock : locks) {
    JsonObject told = holder_json(lock.name, lock.holder, options.node_count);
    all.add(with_client_value(std::move(told), lock.holder));
  }
  print_out("{}\n", JsonObject{{"locks", all}}.text());
}

std::string line_of(const ListedLock& lock, std::size_t width, std::size_t nodes) {
  const Holder& holder = lock.holder;
  const bool is_told = !holder.label.empty();
  std::string line =
      fmt::format("{:<{}}  {:>8}  {:>8}  {:>10}  {} of {}  {}", printable(lock.name), width,
                  holder.left == Duration::max() ? "-" : spoken_duration(holder.left),
                  is_told ? rough_duration(holder.held) : "-",
                  holder.token == 0 ? "-" : std::to_string(holder.token), holder.nodes, nodes,
                  is_told ? holder.label : "-");
  return line;
}

void print_table(const Options& options, const Locks& locks) {
  if (locks.empty()) return;
  std::size_t width = 0;
  for (const ListedLock& lock : locks) width = std::max(width, printable(lock.name).size());
  width = std::clamp<std::size_t>(width, 4, kNameWidthMax);
  print_out("{:<{}}  {:>8}  {:>8}  {:>10}  NODES   HOLDER\n", "NAME", width, "LEFT", "HELD FOR",
            "TOKEN");
  for (const ListedLock& lock : locks) {
    print_out("{}\n", line_of(lock, width, options.node_count));
  }
}

int tell(const Options& options, const Result<Locks, Error>& result) {
  if (!result) {
    report_failure(options, result.error());
    return exit_code_of(result.error());
  }
  options.json ? print_json(options, result.value()) : print_table(options, result.value());
  return exit_code::kDone;
}

}  // namespace

int command_list(const Options& options, CommandSession& session) {
  return session.run([&] {
    session.client().list(options.pattern, [&](const Result<Locks, Error>& result) {
      session.finish(tell(options, result));
    });
  });
}

}  // namespace redlock::coordinator
