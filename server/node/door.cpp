#include "server/node/door.h"

#include "protocol/resp/errors.h"

#include <fmt/format.h>

namespace redlock::server {

using protocol::Reply;
using protocol::Session;

namespace {

constexpr Duration kRefusalDelay = 1s;

}  // namespace

Session& Door::open(protocol::Peer peer, Instant now) {
  const bool is_local = peer.is_local;
  Session& session = parts_.sessions.open(std::move(peer), !parts_.access.is_required(), now);
  parts_.access.make_default(session);
  ++parts_.stats.connections_received;
  const bool is_full = parts_.sessions.count() > parts_.settings.maxclients;
  if (is_full || parts_.access.refuses_peer(is_local)) {
    ++parts_.stats.connections_rejected;
    session.write(
        Reply::error_view(is_full ? protocol::kMaxClients : protocol::kProtectedModeError));
    session.close_after_output();
    return session;
  }
  note_newcomer(session, now);
  return session;
}

void Door::note_certificate(Session& session, std::string_view name, Instant now) {
  using Users = Settings::TlsUsers;
  if (parts_.settings.tls_auth_clients_user == Users::off || session.is_closing()) return;
  if (parts_.access.log_in_as(session, name)) note_newcomer(session, now);
}

void Door::close(const Session& session, Instant now) {
  newcomers_.remove(session.id());
  const auto tell = [&](ClientLog::Kind kind, std::string_view why) {
    parts_.client_log.log(kind, LogLevel::warning,
                          fmt::format("closing {}: {}", session.peer().address, why), now);
  };
  if (session.cut() == Session::Cut::reply_too_large) {
    tell(ClientLog::Kind::large_reply,
         fmt::format("the reply to its {} would take more than a client may be told at once",
                     session.last_command));
  } else if (session.cut() == Session::Cut::took_most) {
    ++parts_.stats.clients_evicted;
    tell(ClientLog::Kind::evicted,
         fmt::format("it took {} bytes, the most of all clients, and together they took more than "
                     "maxmemory-clients",
                     session.bytes_when_cut()));
  }
}

void Door::note_newcomer(Session& session, Instant now) {
  if (session.is_authenticated()) return newcomers_.remove(session.id());
  newcomers_.add(session.id(), now);
  if (newcomers_.are_too_many(parts_.settings.maxclients)) {
    close_newcomer("others without a password came after it", now);
  }
}

// A password that was taken away since is asked of nobody.
void Door::close_late_newcomers(Instant now) {
  for (auto next = newcomers_.next_deadline(); next && *next <= now;
       next = newcomers_.next_deadline()) {
    if (parts_.access.is_required()) {
      close_newcomer("it gave no password in time", now);
    } else {
      newcomers_.take_first();
    }
  }
}

void Door::close_newcomer(std::string_view why, Instant now) {
  Session* session = parts_.sessions.find(newcomers_.take_first());
  if (session == nullptr) return;
  ++parts_.stats.newcomers_closed;
  parts_.client_log.log(ClientLog::Kind::newcomer, LogLevel::notice,
                        fmt::format("closing {}: {}", session->peer().address, why), now);
  session->close_after_output();
}

Reply Door::settle_password(Session& session, std::uint32_t refused_before, Reply reply,
                            Instant now) {
  note_newcomer(session, now);
  if (session.refused_passwords > refused_before) note_wrong_password(session.peer().address, now);
  if (refused_before < kQuickRefusals) return reply;
  if (reply.is_error()) parts_.stats.count_error(reply.text());
  late_refusals_.emplace_back(later(now, kRefusalDelay), LateReply{session.id(), reply.owned()});
  return Reply::later();
}

void Door::note_wrong_password(std::string_view address, Instant now) {
  ++parts_.stats.passwords_refused;
  parts_.client_log.log(ClientLog::Kind::password, LogLevel::warning,
                        fmt::format("{} gave a wrong password", address), now);
}

// In the order in which they began to wait, which all do for the same time.
std::optional<LateReply> Door::take_late_refusal(Instant now) {
  if (late_refusals_.empty() || late_refusals_.front().first > now) return std::nullopt;
  LateReply late = std::move(late_refusals_.front().second);
  late_refusals_.pop_front();
  return late;
}

std::optional<Instant> Door::next_work() const {
  std::optional<Instant> next = newcomers_.next_deadline();
  if (!late_refusals_.empty()) next = earlier(next, late_refusals_.front().first);
  if (parts_.settings.timeout > 0ns && parts_.sessions.count() > 0) {
    next = earlier(next, idle_check_ + kIdleCheckInterval);
  }
  return next;
}

}  // namespace redlock::server
