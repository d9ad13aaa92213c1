// The node and its transactions: what is queued instead of executed, and EXEC.
#include "base/invariant.h"
#include "protocol/resp/errors.h"
#include "server/grants/refusals.h"
#include "server/node/node.h"

#include <utility>

#include <fmt/format.h>

namespace redlock::server {

using protocol::CommandSpec;
using protocol::Reply;
using protocol::Request;
using protocol::Session;
using protocol::Transaction;

namespace {

constexpr std::string_view kAborted = "EXECABORT Transaction discarded because of previous errors.";

// All of them may take as much as the requests; beyond that none is kept, and the rest is executed
// all the same.
void keep(Reply& replies, Reply reply) {
  replies.add(std::move(reply));
  if (replies.memory_bytes() > protocol::kTransactionBytesMax) replies = Reply::too_large();
}

}  // namespace

// A refusal between MULTI and EXEC: then EXEC must execute nothing. EXEC that is refused itself is
// over, and says why, without the general "ERR"; monitors, which saw MULTI, see that it came.
Reply Node::refuse_in_transaction(Session& session, const CommandSpec* spec, Request request,
                                  Now now, Reply refusal) {
  if (spec == nullptr || spec->name != "exec") {
    if (Transaction* queue = session.transaction()) queue->break_off();
    return refusal;
  }
  session.take_transaction();
  watches_.forget(session);
  std::string_view why = refusal.text();
  if (why.starts_with("ERR ")) why.remove_prefix(4);
  Reply aborted = Reply::error(fmt::format("EXECABORT Transaction discarded because of: {}", why));
  const Command& exec = *commands_.find(request).entry->command;
  show({{session, sessions_, access_, kRedisVersion, request, now}, *this, exec, false}, &aborted);
  return aborted;
}

Reply Node::queue(Session& session, const CommandSpec& spec, Request request, Now now) {
  Transaction& queue = *session.transaction();
  const auto refuse = [&](std::string_view why) {
    stats_.count_error(why);
    return refuse_in_transaction(session, &spec, request, now, Reply::error_view(why));
  };
  if (spec.has(protocol::kNoMulti)) return refuse("ERR Command not allowed inside a transaction");
  if (is_above_maxmemory()) return refuse(kOutOfMemory);
  if (queue.add(request, spec.flags)) return Reply::status_view("QUEUED");
  return refuse("ERR this transaction is longer than this node takes");
}

Reply Node::execute_transaction(Call& call) {
  Session& session = call.session;
  if (session.transaction() == nullptr) return Reply::error_view("ERR EXEC without MULTI");
  std::unique_ptr<Transaction> queue = session.take_transaction();
  const bool is_broken = watches_.is_broken(session, call.instant());
  watches_.forget(session);
  if (queue->is_broken()) return Reply::error_view(kAborted);
  if (is_broken) return Reply::null_array();
  if ((queue->flags() & protocol::kDenyOom) != 0 && is_above_maxmemory()) {
    return Reply::error(
        fmt::format("EXECABORT Transaction discarded because of: {}", kOutOfMemory));
  }
  transaction_ = RunningTransaction{
      session.id(),   std::move(queue), 0,
      Reply::array(), call.now,         later(call.instant(), settings_.busy_reply_threshold)};
  script_now_ = call.now;
  return continue_transaction(session);
}

// Kind::later when a script among them was suspended, or the transaction itself: finish_script() or
// resume_transaction() comes back here.
Reply Node::continue_transaction(Session& session) {
  while (transaction_->next < transaction_->queue->size()) {
    Reply reply = execute_queued(session, transaction_->queue->request(transaction_->next++));
    if (suspended_) return Reply::later();
    INVARIANT(!reply.is(Reply::Kind::later) && !reply.is(Reply::Kind::postponed),
              "a command that may answer later, in a transaction");
    if (!transaction_->replies.is(Reply::Kind::too_large)) {
      keep(transaction_->replies, reply.owned());
    }
    if (is_transaction_due_to_pause()) return pause_transaction(session);
  }
  session.last_command = "exec";
  Reply replies = std::move(transaction_->replies);
  transaction_.reset();
  return replies;
}

Reply Node::execute_queued(Session& session, Request request) {
  CommandTable::Entry* entry = commands_.find(request).entry;
  INVARIANT(entry != nullptr, "a queued command that is unknown");
  ++stats_.commands_processed;
  work_ += request.size();
  session.last_command = entry->command->spec.name;
  coverage_.bound_uncovered(script_now_.monotonic);
  Call call{{session, sessions_, access_, kRedisVersion, request, transaction_->now},
            *this,
            *entry->command,
            false,
            true};
  return run(call, *entry);
}

// Nothing to pause for, when it has come to its end.
bool Node::is_transaction_due_to_pause() {
  if (work_ < kWordsBetweenLooks || world_.stopwatch == nullptr) return false;
  work_ = 0;
  return transaction_->next < transaction_->queue->size() &&
         world_.stopwatch() >= transaction_->pause_at;
}

Reply Node::pause_transaction(Session& session) {
  const Instant began = transaction_->now.monotonic;
  suspended_ = Suspended{session.id(), began, std::nullopt};
  if (std::exchange(transaction_->has_overrun, true)) return Reply::later();
  client_log_.log(ClientLog::Kind::script_overrun, LogLevel::warning,
                  "a transaction runs longer than busy-reply-threshold: other clients are answered "
                  "-BUSY until it has ended",
                  began);
  return Reply::later();
}

// The next piece, as long as a session's turn. What observes the EXEC sees it end with the last.
void Node::resume_transaction(Now now) {
  Suspended before = std::move(*std::exchange(suspended_, std::nullopt));
  Session* session = sessions_.find(before.caller);
  INVARIANT(session != nullptr, "a session was closed that owed the rest of a transaction");
  transaction_->pause_at = now.monotonic + kTurnMax;
  Reply reply = continue_transaction(*session);
  if (suspended_ && !engine_.is_suspended()) {
    suspended_ = std::move(before);
  } else if (!suspended_ && before.observed) {
    observers_.note_time(std::move(*before.observed));
  }
  finish_suspended(session->id(), std::move(reply));
}

// All or nothing, also when the client is gone by now: owes_work() keeps its session.
Reply Node::continue_transaction_after(Reply script_reply) {
  if (!transaction_->replies.is(Reply::Kind::too_large)) {
    keep(transaction_->replies, std::move(script_reply));
  }
  transaction_->pause_at = Instant{};  // the script has had its time: others first
  Session* session = sessions_.find(transaction_->caller);
  INVARIANT(session != nullptr, "a session was closed that owed the rest of a transaction");
  return continue_transaction(*session);
}

}  // namespace redlock::server
