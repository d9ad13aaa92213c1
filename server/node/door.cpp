// Who is let in: connections, passwords, and what those cost that give none or a wrong one.
#include "protocol/resp/errors.h"
#include "server/node/node.h"

#include <utility>

#include <fmt/format.h>

namespace redlock::server {

using protocol::Reply;
using protocol::Session;

namespace {

// A person's mistakes, and those of a program that tries an old password and a new one. Beyond, a
// connection is told after a second: a guess a second, where it would be hundreds of thousands.
constexpr std::uint32_t kQuickRefusals = 10;
constexpr Duration kRefusalDelay = 1s;

}  // namespace

Session& Node::open_session(protocol::Peer peer, Now now) {
  const bool is_local = peer.is_local;
  Session& session = sessions_.open(std::move(peer), !access_.is_required(), now.monotonic);
  ++stats_.connections_received;
  const bool is_full = sessions_.count() > settings_.maxclients;
  if (is_full || access_.refuses_peer(is_local)) {
    ++stats_.connections_rejected;
    session.write(
        Reply::error_view(is_full ? protocol::kMaxClients : protocol::kProtectedModeError));
    session.close_after_output();
    return session;
  }
  note_newcomer(session, now.monotonic);
  return session;
}

void Node::close_session(Session::Id id) {
  newcomers_.remove(id);
  if (Session* session = sessions_.find(id)) {
    tell_of_cut(*session);
    forget_wishes(*session);
  }
  sessions_.close(id);
}

void Node::note_newcomer(Session& session, Instant now) {
  if (session.is_authenticated()) return newcomers_.remove(session.id());
  newcomers_.add(session.id(), now);
  if (newcomers_.are_too_many(settings_.maxclients)) {
    close_newcomer("others without a password came after it", now);
  }
}

// A password that was taken away since is asked of nobody.
void Node::close_late_newcomers(Instant now) {
  for (auto next = newcomers_.next_deadline(); next && *next <= now;
       next = newcomers_.next_deadline()) {
    if (access_.is_required()) {
      close_newcomer("it gave no password in time", now);
    } else {
      newcomers_.take_first();
    }
  }
}

void Node::close_newcomer(std::string_view why, Instant now) {
  Session* session = sessions_.find(newcomers_.take_first());
  if (session == nullptr) return;
  ++stats_.newcomers_closed;
  client_log_.log(ClientLog::Kind::newcomer, LogLevel::notice,
                  fmt::format("closing {}: {}", session->peer().address, why), now);
  session->close_after_output();
}

// A transaction answers at once; only who gave the password has one.
Reply Node::settle_password(Call& call, std::uint32_t refused_before, Reply reply) {
  Session& session = call.session;
  note_newcomer(session, call.instant());
  if (session.refused_passwords > refused_before) {
    ++stats_.passwords_refused;
    client_log_.log(ClientLog::Kind::password, LogLevel::warning,
                    fmt::format("{} gave a wrong password", session.peer().address),
                    call.instant());
  }
  if (refused_before < kQuickRefusals || call.in_transaction) return reply;
  if (reply.is_error()) stats_.count_error(reply.text());
  late_refusals_.emplace_back(later(call.instant(), kRefusalDelay),
                              LateReply{session.id(), reply.owned()});
  return Reply::later();
}

// In the order in which they began to wait, which all do for the same time.
void Node::tell_late_refusals(Now now) {
  while (!late_refusals_.empty() && late_refusals_.front().first <= now.monotonic) {
    LateReply late = std::move(late_refusals_.front().second);
    late_refusals_.pop_front();
    if (Session* session = sessions_.find(late.session)) session->resume(late.reply, now, *this);
  }
}

}  // namespace redlock::server
