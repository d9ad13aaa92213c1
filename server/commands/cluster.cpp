// CLUSTER: a node is none, and each of Redis's subcommands says so. They are known by name so that
// what is no subcommand, or has not its count of words, is refused at once, also inside MULTI.
#include "server/commands/families.h"
#include "server/node/command.h"

namespace redlock::server {
namespace {

using namespace protocol;  // flags

Reply no_cluster(Call&) {
  return Reply::error_view("ERR This instance has cluster support disabled");
}

constexpr Command asks(std::string_view name, int arity) {
  return {{name, arity, kStale, 0, 0, 0, "cluster", "3.0.0", "A lock node is no cluster.", ""},
          no_cluster};
}

constexpr Command manages(std::string_view name, int arity) {
  Command command = asks(name, arity);
  command.spec.flags |= kAdmin;
  return command;
}

constexpr Command kCommands[] = {
    {{"cluster", -2, 0, 0, 0, 0, "cluster", "3.0.0", "Commands about a cluster, which this is not.",
      ""},
     nullptr},
    manages("cluster|addslots", -3),
    manages("cluster|addslotsrange", -4),
    manages("cluster|bumpepoch", 2),
    manages("cluster|count-failure-reports", 3),
    asks("cluster|countkeysinslot", 3),
    manages("cluster|delslots", -3),
    manages("cluster|delslotsrange", -4),
    manages("cluster|failover", -2),
    manages("cluster|flushslots", 2),
    manages("cluster|forget", 3),
    asks("cluster|getkeysinslot", 4),
    asks("cluster|help", 2),
    asks("cluster|info", 2),
    asks("cluster|keyslot", 3),
    asks("cluster|links", 2),
    manages("cluster|meet", -4),
    asks("cluster|myid", 2),
    asks("cluster|nodes", 2),
    manages("cluster|replicas", 3),
    manages("cluster|replicate", 3),
    manages("cluster|reset", -2),
    manages("cluster|saveconfig", 2),
    manages("cluster|set-config-epoch", 3),
    manages("cluster|setslot", -4),
    asks("cluster|shards", 2),
    manages("cluster|slaves", 3),
    asks("cluster|slots", 2),
};

}  // namespace

Family cluster_commands() {
  return kCommands;
}

}  // namespace redlock::server
