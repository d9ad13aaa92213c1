// All commands of a node: one family a file of this folder.
//
//   Node node(all_families(), settings, start, world);
#pragma once

#include "server/node/command.h"

namespace redlock::server {

// The tables live for ever.
Families all_families();

Family connection_commands();
Family lock_commands();
Family string_commands();
Family counter_commands();
Family key_commands();
Family keyspace_commands();
Family hash_commands();
Family object_commands();
Family wait_commands();
Family quorum_commands();
Family group_commands();
Family script_commands();
Family pubsub_commands();
Family acl_commands();
Family admin_commands();
Family debug_commands();
Family transaction_commands();
Family observing_commands();

}  // namespace redlock::server
