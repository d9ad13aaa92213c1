// redlock status --http: the same for browsers, until Ctrl-C.
#include "base/net/turn/signal.h"
#include "coordinator/cli/node_report.h"
#include "coordinator/client/parsed_options.h"
#include "coordinator/commands/commands.h"
#include "coordinator/page/status_page.h"
#include "coordinator/process/process_launch.h"

#include <csignal>
#include <cstdio>
#include <memory>
#include <vector>

#include <fmt/format.h>

namespace redlock::coordinator {

int command_page(const Options& options) {
  if (options.json) {
    complain("a page is shown, or JSON is printed; the page's /status.json has the same");
    return exit_code::kUsage;
  }
  if (const auto nodes = ParsedOptions::read(options.client); !nodes) {
    complain(nodes.error().text);
    return exit_code::kConfiguration;
  }
  net::Loop loop;
  StatusPage page(loop, {.client = options.client,
                         .names = StatusPage::names_at(*options.http, options.http_names)});
  auto server = net::HttpServer::listen(
      loop, *options.http, [&page](const net::HttpRequest& request, const net::Address&) {
        return page.answer(request.path).value_or(net::HttpResponse::not_found());
      });
  if (!server) {
    complain(server.error().text);
    return exit_code::kNo;
  }
  int ended_by = 0;
  std::vector<std::unique_ptr<net::Signal>> signals;
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    if (signal_is_ignored(number)) continue;
    signals.push_back(std::make_unique<net::Signal>(loop, number, [&, number] {
      ended_by = number;
      loop.stop();
    }));
  }
  fmt::print("the group is shown at http://{}/ until Ctrl-C\n", server.value()->local().text());
  std::fflush(stdout);
  loop.run();
  return exit_code::of_signal(ended_by);
}

}  // namespace redlock::coordinator
