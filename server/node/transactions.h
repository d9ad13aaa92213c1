// Transactions: what is queued instead of executed, and EXEC.
//
// EXEC executes its queue command by command, at one instant (rule C4). It may come to a stop in
// between: when one of them is a script that is suspended, and after busy-reply-threshold, when
// others are to be heard. Then it answers Kind::later, and the node goes on with it a piece a turn.
//
//   Reply reply = transactions.execute(session, now, pause_at);    // Kind::later: it goes on
//   reply = transactions.go_on(pause_at);                          // the next piece
//   reply = transactions.go_on_after(script_reply);                // behind a script among it
//
// All or nothing, also when the client is gone by then: the node keeps a session that is_of() one.
//
// Thread safety: none. Invariant: at most one is under way.
#pragma once

#include "base/time.h"
#include "protocol/resp/refusal.h"
#include "protocol/resp/reply.h"
#include "protocol/session/session.h"
#include "protocol/session/sessions.h"
#include "protocol/session/transaction.h"
#include "server/grants/coverage.h"
#include "server/node/command_runner.h"
#include "server/node/command_table.h"
#include "server/node/turn_order.h"
#include "server/notify/watches.h"
#include "server/observe/client_log.h"
#include "server/observe/stats.h"
#include "server/users/judge.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>

namespace redlock::server {

inline constexpr std::string_view kExecAborted =
    "EXECABORT Transaction discarded because of previous errors.";

class Transactions {
 public:
  // All outlive it.
  struct Parts {
    CommandRunner& runner;
    CommandTable& commands;
    protocol::Sessions& sessions;
    Judge& judge;
    Watches& watches;
    Coverage& coverage;
    TurnOrder& turns;
    Stats& stats;
    ClientLog& client_log;
  };
  explicit Transactions(Parts parts) : parts_(parts) {}
  Transactions(const Transactions&) = delete;
  Transactions& operator=(const Transactions&) = delete;

  // A refusal between MULTI and EXEC: EXEC must execute nothing then. Returns what is answered.
  protocol::Reply note_refusal(protocol::Session& session, bool is_exec, protocol::Reply refusal);
  // Queues what came behind MULTI. REQUIRES: the session has a transaction.
  protocol::Reply queue(protocol::Session& session, const protocol::CommandSpec& spec,
                        protocol::Request request);

  // EXEC, until it ends or its time is over at pause_at.
  protocol::Reply execute(protocol::Session& session, Now now, Instant pause_at);
  // REQUIRES of both: one is under way.
  protocol::Reply go_on(Instant pause_at);
  protocol::Reply go_on_after(protocol::Reply script_reply);

  bool is_under_way() const { return running_.has_value(); }
  bool is_of(const protocol::Session& session) const {
    return running_ && running_->caller == session.id();
  }

 private:
  struct Running {
    protocol::Session::Id caller;
    std::unique_ptr<protocol::Transaction> queue;
    std::size_t next;  // of the queue
    protocol::Reply replies;
    Now now;
    Instant pause_at;
    bool has_overrun = false;
  };

  protocol::Session& session();
  protocol::Reply execute_next(protocol::Session& session);
  protocol::Reply go_on();
  void keep(protocol::Reply reply);
  bool is_due_to_pause();
  protocol::Reply pause();

  Parts parts_;
  std::optional<Running> running_;
};

}  // namespace redlock::server
