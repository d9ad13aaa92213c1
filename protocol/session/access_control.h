// Who may speak: users and their passwords, protected mode, and what was refused to whom.
//
//   access.make_default(session);                        // a new connection, and RESET
//   if (!access.log_in(session, "team-a", password)) …   // AUTH, HELLO
//   if (session.is_restricted()) … session.user() …      // whoever executes a command
//
// Most sessions have all rights, and nobody looks at their user.
#pragma once

#include "protocol/access/access_log.h"
#include "protocol/access/users.h"
#include "protocol/session/session.h"

#include <string>
#include <string_view>

namespace redlock::protocol {

class AccessControl {
 public:
  // The commands that rules speak of; the specs outlive it.
  explicit AccessControl(CommandSpecs specs = {}) : rights_(specs), users_(rights_) {}
  AccessControl(const AccessControl&) = delete;
  AccessControl& operator=(const AccessControl&) = delete;

  const CommandRights& rights() const { return rights_; }
  Users& users() { return users_; }
  const Users& users() const { return users_; }
  AccessLog& log() { return log_; }
  const AccessLog& log() const { return log_; }

  // requirepass: the default user's one password; empty: everybody is let in. The same again
  // changes nothing: rules may have changed the user since.
  void set_password(std::string_view password);
  // The default user was made anew.
  void apply_password() { users_.set_default_password(password_); }
  // A new connection has no right before it says who it is.
  bool is_required() const {
    return !users_.default_user().is_on() || !users_.default_user().needs_no_password();
  }

  void set_protected_mode(bool on) { protected_mode_ = on; }
  bool protected_mode() const { return protected_mode_; }

  // Takes the same time for every wrong password of a length.
  bool admits(std::string_view user, std::string_view password) const;

  // The session is the user's, if the password is; otherwise it is as it was.
  bool log_in(Session& session, std::string_view user, std::string_view password) const;
  // The same for a session whose user is known otherwise, as by a client's certificate. False:
  // there is no such user, or he is off.
  bool log_in_as(Session& session, std::string_view user) const;
  // The default user's, who is let in if he needs no password.
  void make_default(Session& session) const;

  // Protected mode: with no password only this machine itself may connect.
  bool refuses_peer(bool peer_is_local) const {
    return protected_mode_ && !is_required() && !peer_is_local;
  }

 private:
  const CommandRights rights_;
  Users users_;
  AccessLog log_;
  std::string password_;
  bool protected_mode_ = true;
};

// What a refused peer is told before it is closed.
inline constexpr std::string_view kProtectedModeError =
    "DENIED This node runs in protected mode and has no password, so it takes connections from its "
    "own machine only. To let others in, set requirepass in its configuration, or, on a network "
    "that "
    "you trust, protected-mode no.";

}  // namespace redlock::protocol
