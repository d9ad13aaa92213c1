#include "server/node/transactions.h"

#include "base/invariant.h"
#include "protocol/resp/errors.h"
#include "server/grants/refusals.h"

#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace redlock::server {

using protocol::Refusal;
using protocol::Reply;
using protocol::Request;
using protocol::Session;
using protocol::Transaction;

namespace {

Reply aborted(std::string_view why) {
  return Reply::error(fmt::format("EXECABORT Transaction discarded because of: {}", why));
}

}  // namespace

// EXEC that is refused itself is over, and says why, without the general "ERR".
Reply Transactions::note_refusal(Session& session, bool is_exec, Reply refusal) {
  if (!is_exec) {
    if (Transaction* queue = session.transaction()) queue->break_off();
    return refusal;
  }
  session.take_transaction();
  parts_.watches.forget(session);
  std::string_view why = refusal.text();
  if (why.starts_with("ERR ")) why.remove_prefix(4);
  return aborted(why);
}

Reply Transactions::queue(Session& session, const protocol::CommandSpec& spec, Request request) {
  Transaction& queue = *session.transaction();
  const auto refuse = [&](std::string_view why) {
    parts_.stats.count_error(why);
    return note_refusal(session, false, Reply::error_view(why));
  };
  if (spec.has(protocol::kNoMulti)) return refuse("ERR Command not allowed inside a transaction");
  if (parts_.runner.is_above_maxmemory()) return refuse(kOutOfMemory);
  if (queue.add(request, spec.flags)) return Reply::status_view("QUEUED");
  return refuse("ERR this transaction is too long");
}

Reply Transactions::execute(Session& session, Now now, Instant pause_at) {
  if (session.transaction() == nullptr) return Reply::error_view("ERR EXEC without MULTI");
  std::unique_ptr<Transaction> queue = session.take_transaction();
  const bool is_broken = parts_.watches.is_broken(session, now.monotonic);
  parts_.watches.forget(session);
  if (queue->is_broken()) return Reply::error_view(kExecAborted);
  if (is_broken) return Reply::null_array();
  const bool may_grow = (queue->flags() & protocol::kDenyOom) != 0;
  if (may_grow && parts_.runner.is_above_maxmemory()) return aborted(kOutOfMemory);
  INVARIANT(!running_, "an EXEC in the middle of another");
  running_ = Running{session.id(), std::move(queue), 0, Reply::array(), now, pause_at};
  return go_on();
}

Reply Transactions::go_on(Instant pause_at) {
  running_->pause_at = pause_at;
  return go_on();
}

Reply Transactions::go_on_after(Reply script_reply) {
  keep(std::move(script_reply));
  return go_on(Instant{});  // the script has had its time: others first
}

Session& Transactions::session() {
  Session* session = parts_.sessions.find(running_->caller);
  INVARIANT(session != nullptr, "a session was closed that owed the rest of a transaction");
  return *session;
}

Reply Transactions::go_on() {
  Session& caller = session();
  while (running_->next < running_->queue->size()) {
    Reply reply = execute_next(caller);
    if (reply.is(Reply::Kind::later)) return reply;  // a script was suspended
    INVARIANT(!reply.is(Reply::Kind::postponed), "a command that comes again, in a transaction");
    if (!running_->replies.is(Reply::Kind::too_large)) keep(reply.owned());
    if (is_due_to_pause()) return pause();
  }
  caller.last_command = "exec";
  Reply replies = std::move(running_->replies);
  running_.reset();
  return replies;
}

Reply Transactions::execute_next(Session& session) {
  const Request request = running_->queue->request(running_->next++);
  CommandTable::Entry* entry = parts_.commands.find(request).entry;
  INVARIANT(entry != nullptr, "a queued command that is unknown");
  ++parts_.stats.commands_processed;
  parts_.turns.count(request.size());
  session.last_command = entry->command->spec.name;
  if (session.is_restricted()) {
    Refusal no =
        parts_.judge.refuse_queued(session, entry->number, request, running_->now.monotonic);
    if (no) return no;
  }
  parts_.coverage.bound_uncovered(running_->now.monotonic);
  return parts_.runner.run(session, request, running_->now, *entry,
                           CommandRunner::Origin::transaction);
}

// All replies may take as much as the requests; beyond that none is kept, and the rest is executed
// all the same.
void Transactions::keep(Reply reply) {
  running_->replies.add(std::move(reply));
  if (running_->replies.memory_bytes() > protocol::kTransactionBytesMax) {
    running_->replies = Reply::too_large();
  }
}

// Nothing to pause for, when it has come to its end.
bool Transactions::is_due_to_pause() {
  if (!parts_.turns.is_due_to_look() || !parts_.turns.has_stopwatch()) return false;
  const bool is_past = parts_.turns.is_past(running_->pause_at);
  return is_past && running_->next < running_->queue->size();
}

Reply Transactions::pause() {
  if (std::exchange(running_->has_overrun, true)) return Reply::later();
  parts_.client_log.log(ClientLog::Kind::script_overrun, LogLevel::warning,
                        "a transaction runs longer than busy-reply-threshold: other clients are "
                        "answered -BUSY until it has ended",
                        running_->now.monotonic);
  return Reply::later();
}

}  // namespace redlock::server
