// The commands that a front door serves, as bodies (command_body.h): what runs on the scratch node,
// transactions, WATCH, and LOCK.*.
#pragma once

#include "coordinator/front_door/messages/message_relay.h"
#include "coordinator/front_door/records/watched_records.h"
#include "coordinator/front_door/served/command_body.h"
#include "protocol/session/transaction.h"
#include "server/node/command.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace redlock::coordinator {

// One command that runs on the scratch node. Its messages are told with its answer, which only
// comes when its changes are made (rule D11). Scratch node and relay outlive it, as those of EXEC.
// nullptr: its words are longer than kTransactionBytesMax.
std::unique_ptr<CommandBody> scratch_body(ScratchNode& scratch, server::Call& call,
                                          MessageRelay& relay);

// What the sessions' node says to a command that was queued for it.
using RunQueued = std::function<protocol::Reply(protocol::Request request)>;

// EXEC of these, unless one of the watched records is another by then.
std::unique_ptr<CommandBody> exec_body(ScratchNode& scratch,
                                       std::unique_ptr<protocol::Transaction> queue,
                                       std::vector<WatchedRecord> watched, RunQueued run_queued,
                                       const protocol::Session& session, MessageRelay& relay);

// WATCH: reads the records; `watch` keeps them.
std::unique_ptr<CommandBody> watch_body(std::vector<std::string> keys,
                                        std::function<void(std::vector<WatchedRecord>)> watch);

// What LOCK.ACQUIRE does with a lock that is free.
enum class Take : std::uint8_t {
  takes,
  looks,  // leaves it to those who came before, and is told that it is about to be held
};

// LOCK.ACQUIRE without a WAIT, LOCK.EXTEND, LOCK.RELEASE, LOCK.HOLDER. ttl: the client's.
std::unique_ptr<CommandBody> acquire_body(std::string key, std::string value, Duration ttl,
                                          std::string label, Take take);
std::unique_ptr<CommandBody> extend_body(std::string key, std::string value, Duration ttl);
std::unique_ptr<CommandBody> release_body(std::string key, std::string value);
std::unique_ptr<CommandBody> holder_body(std::string key);
// LOCK.WAIT that only looks: 1 if it is free.
std::unique_ptr<CommandBody> free_body(std::string key);

}  // namespace redlock::coordinator
