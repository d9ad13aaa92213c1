// SessionHost: whoever is behind clients' sockets. A node is one, a front door is another; the
// SessionServer moves the bytes of both.
//
// In a turn of the loop, in this order:
//
//   host.expect(received);                    // of several clients; a hint
//   host.receive(session, bytes, now);        // for what each connection brought
//   host.do_due_work(now);                    // when next_work() says so
//   host.sessions().for_each_touched(…);      // the output of each that has some: send_by(),
//                                             // note_sent(), note_unsent()
//
// Pure. Thread safety: none.
#pragma once

#include "base/time.h"
#include "protocol/session/session.h"
#include "protocol/session/sessions.h"
#include "server/observe/client_log.h"
#include "server/settings/settings.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace redlock::server {

class SessionHost {
 public:
  virtual ~SessionHost() = default;

  // --- clients

  // A new client. One that is refused (protected mode, maxclients) is told so and is closing.
  virtual protocol::Session& open_session(protocol::Peer peer, Now now) = 0;
  // The client has shown a certificate that is good, which names him so.
  virtual void note_certificate(protocol::Session& session, std::string_view name, Now now) = 0;
  virtual void close_session(protocol::Session::Id id) = 0;
  // What a close has to forget; many of them are closed in pieces.
  virtual std::size_t wishes_of(const protocol::Session& session) const = 0;
  // Of one that is to be closed: forgets so much of it at most, and says how much that was; 0: what
  // is left is forgotten as a whole.
  virtual std::size_t forget_some(protocol::Session& session, std::size_t at_most) = 0;
  // Whether a request of the session goes on although its client has gone: so the session is kept
  // until this is false. Asked when the connection ends, and whenever the session has output then.
  virtual bool has_unfinished_request(const protocol::Session& session) const = 0;
  virtual protocol::Sessions& sessions() = 0;

  // --- input

  // These come next, each of another client.
  virtual void expect(std::span<const std::string_view> received) { static_cast<void>(received); }
  // REQUIRES: `now` was read after the bytes came (rule C4).
  virtual void receive(protocol::Session& session, std::string_view bytes, Now now) = 0;

  // --- output

  // The instant of CLOCK_BOOTTIME after which the session's output may not be handed to the kernel
  // any more (rule D2: an OK has its time). Later than that the connection is closed instead. With
  // such an instant, what the kernel does not take by that very write is never sent: the connection
  // is closed. Nothing: the output may wait as long as its client reads slowly.
  virtual std::optional<Instant> send_by(const protocol::Session& session) const {
    static_cast<void>(session);
    return std::nullopt;
  }
  // So many bytes of the session's output were taken. Where send_by() told an instant: by the
  // kernel, and if that is less than all of them the connection has ended, as by its client. Else
  // what the kernel did not take is queued, and goes out while the client reads.
  virtual void note_sent(protocol::Session& session, std::size_t bytes) = 0;
  // So much of what was taken of the session's output waits for its client to read.
  virtual void note_unsent(protocol::Session& session, std::size_t bytes) = 0;

  // --- work that no client's bytes bring

  virtual std::optional<Instant> next_work() const = 0;
  virtual void do_due_work(Now now) = 0;

  // The process is to end (SIGTERM). Nothing executes once is_stopped() is true; then the loop
  // ends, behind the output of that turn.
  virtual void stop() = 0;
  virtual bool is_stopped() const = 0;

  // --- what the sockets go by

  virtual const Settings& settings() const = 0;
  virtual ClientLog& client_log() = 0;
};

}  // namespace redlock::server
