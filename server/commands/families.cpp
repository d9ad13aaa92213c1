#include "server/commands/families.h"

#include <array>

namespace redlock::server {

// In the order in which COMMAND LIST and INFO commandstats tell them.
Families all_families() {
  static const std::array families = {
      connection_commands(),  lock_commands(),     string_commands(), counter_commands(),
      key_commands(),         keyspace_commands(), hash_commands(),   object_commands(),
      quorum_commands(),      group_commands(),    wait_commands(),   script_commands(),
      pubsub_commands(),      acl_commands(),      admin_commands(),  debug_commands(),
      transaction_commands(), observing_commands()};
  return families;
}

}  // namespace redlock::server
