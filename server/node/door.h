// Door: who is let in, and what those cost that give no password or a wrong one.
//
// A connection is refused beyond maxclients, and by protected mode. Who has yet to give the
// password is a newcomer (newcomers.h), and closed when it does not give one in time. A wrong
// password is told late: Kind::later, and the refusal comes out of take_late_refusal().
//
// Thread safety: none.
#pragma once

#include "base/time.h"
#include "protocol/resp/reply.h"
#include "protocol/session/access_control.h"
#include "protocol/session/session.h"
#include "protocol/session/sessions.h"
#include "server/grants/coverage.h"
#include "server/node/newcomers.h"
#include "server/observe/client_log.h"
#include "server/observe/stats.h"
#include "server/settings/settings.h"

#include <deque>
#include <optional>
#include <string_view>
#include <utility>

namespace redlock::server {

class Door {
 public:
  // All outlive it.
  struct Parts {
    protocol::Sessions& sessions;
    protocol::AccessControl& access;
    const Settings& settings;
    Stats& stats;
    ClientLog& client_log;
  };
  explicit Door(Parts parts) : parts_(parts) {}
  Door(const Door&) = delete;
  Door& operator=(const Door&) = delete;

  // A new client. One that is refused (protected mode, maxclients) is told so and is closing.
  protocol::Session& open(protocol::Peer peer, Instant now);
  // A client's certificate has this name: he is the user of that name, if certificates stand for
  // users and there is one who is on. Otherwise he is who he was.
  void note_certificate(protocol::Session& session, std::string_view name, Instant now);
  // The session is about to end: the log hears why, where the node itself has cut it off.
  void close(const protocol::Session& session, Instant now);

  // A person's mistakes, and those of a program that tries an old password and a new one. Beyond, a
  // connection is told after a second: a guess a second, where it would be hundreds of thousands.
  static constexpr std::uint32_t kQuickRefusals = 10;
  // AUTH and HELLO have looked at a password; RESET asks for it anew. refused_before: the session's
  // count of wrong ones, before they looked. Returns what is answered now.
  protocol::Reply settle_password(protocol::Session& session, std::uint32_t refused_before,
                                  protocol::Reply reply, Instant now);
  // The same where it was said elsewhere than in a session, as on a front door's page: it is logged
  // and counted.
  void note_wrong_password(std::string_view address, Instant now);
  // The next refusal that is due by now.
  std::optional<LateReply> take_late_refusal(Instant now);

  // Closes newcomers whose time is over, and idle clients but for those that wait for something.
  void close_late_newcomers(Instant now);
  template <class Waits>
  void close_idle(Instant now, Waits waits) {
    if (parts_.settings.timeout == 0ns || now < idle_check_ + kIdleCheckInterval) return;
    idle_check_ = now;
    for (const auto& [id, session] : parts_.sessions.all()) {
      const bool is_idle = now - session->last_request() > parts_.settings.timeout;
      if (is_idle && !waits(*session)) session->close_after_output();
    }
  }
  // When one of these will have something to do.
  std::optional<Instant> next_work() const;

 private:
  static constexpr Duration kIdleCheckInterval = 1s;

  void note_newcomer(protocol::Session& session, Instant now);
  void close_newcomer(std::string_view why, Instant now);

  Parts parts_;
  Newcomers newcomers_;
  std::deque<std::pair<Instant, LateReply>> late_refusals_;  // of passwords; the first is due first
  Instant idle_check_{};
};

}  // namespace redlock::server
