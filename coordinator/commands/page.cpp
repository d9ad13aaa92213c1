// redlock status --http: the same for browsers, until Ctrl-C.
#include "base/net/http/basic_password.h"
#include "base/net/turn/signal.h"
#include "base/text/same_secret.h"
#include "coordinator/cli/node_report.h"
#include "coordinator/cli/output.h"
#include "coordinator/client/parsed_options.h"
#include "coordinator/commands/commands.h"
#include "coordinator/page/status_page.h"
#include "coordinator/process/process_launch.h"

#include <algorithm>
#include <csignal>
#include <memory>
#include <vector>

#include <fmt/format.h>

namespace redlock::coordinator {
namespace {

// Where nodes have a password, what they say is shown to whoever gives it: any node's.
bool may_look(const std::vector<Group::Node>& nodes, const net::HttpRequest& request) {
  const auto has_password = [](const Group::Node& node) { return node.credentials.given(); };
  if (std::none_of(nodes.begin(), nodes.end(), has_password)) return true;
  const auto password = net::basic_password(request.authorization);
  return password && std::any_of(nodes.begin(), nodes.end(), [&](const Group::Node& node) {
           return has_password(node) && is_same_secret(*password, node.credentials.password);
         });
}

}  // namespace

int command_page(const Options& options) {
  if (options.json) {
    complain("a page is shown, or JSON is printed; the page's /status.json has the same");
    return exit_code::kUsage;
  }
  const auto parsed = ParsedOptions::read(options.client);
  if (!parsed) {
    complain(parsed.error().text);
    return exit_code::kConfiguration;
  }
  net::Loop loop;
  StatusPage page(loop, {.client = options.client,
                         .names = StatusPage::names_at(*options.http, options.http_names)});
  auto server = net::HttpServer::listen(
      loop, *options.http, [&](const net::HttpRequest& request, const net::Address&) {
        if (!may_look(parsed.value().group.nodes, request)) return net::HttpResponse::failure(401);
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
  print_out("the group is shown at http://{}/ until Ctrl-C\n", server.value()->local().text());
  flush_output();
  loop.run();
  return exit_code::of_signal(ended_by);
}

}  // namespace redlock::coordinator
