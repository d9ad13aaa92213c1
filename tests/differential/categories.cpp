#include "tests/differential/categories.h"

#include "protocol/resp/request_writer.h"
#include "tests/differential/step.h"

#include <set>

#include <fmt/format.h>

namespace redlock::differential {
namespace {

using Names = std::set<std::string>;

Names ask(Link& server, const Words& words) {
  protocol::OutputBuffer bytes;
  protocol::write_request(views(words), bytes);
  server.send(bytes.view());
  const Answer answer = server.next();
  Names names;
  for (const protocol::Reply& item : answer.reply.items()) names.emplace(item.text());
  return names;
}

}  // namespace

std::string differing_categories(Link& node, Link& redis) {
  const Names of_node = ask(node, {"COMMAND", "LIST"});
  const Names of_redis = ask(redis, {"COMMAND", "LIST"});
  const Names categories = ask(redis, {"ACL", "CAT"});
  if (of_node.empty() || categories.empty()) return "a server tells no commands, or no category\n";
  std::string differing;
  for (const std::string& category : categories) {
    const Names in_node = ask(node, {"ACL", "CAT", category});
    const Names in_redis = ask(redis, {"ACL", "CAT", category});
    for (const std::string& name : of_node) {
      const bool is_same = in_node.contains(name) == in_redis.contains(name);
      if (is_same || !of_redis.contains(name)) continue;
      differing += fmt::format("{} is in @{} of {} alone\n", name, category,
                               in_node.contains(name) ? "the node" : "Redis");
    }
  }
  return differing;
}

}  // namespace redlock::differential
