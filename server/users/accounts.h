// Accounts: changes to users while their sessions live: ACL SETUSER, DELUSER, LOAD and SAVE.
//
// A session whose user is gone, or read anew with other rights, is closed; so is one that listens
// to a channel which its user may hear no more. All others have their user's new rights at once.
//
// Thread safety: none.
#pragma once

#include "protocol/session/access_control.h"
#include "protocol/session/session.h"
#include "protocol/session/sessions.h"
#include "server/notify/pubsub.h"
#include "server/users/user_file.h"
#include <redlock/result.h>

#include <string>
#include <string_view>
#include <vector>

namespace redlock::server {

class Accounts {
 public:
  // All outlive it. file: nullptr: the node was started without one.
  struct Parts {
    protocol::AccessControl& access;
    protocol::Sessions& sessions;
    PubSub& pubsub;
    UserFile* file;
  };
  explicit Accounts(Parts parts) : parts_(parts) {}
  Accounts(const Accounts&) = delete;
  Accounts& operator=(const Accounts&) = delete;

  // All rules are taken, or none.
  protocol::User::Refused change(std::string_view name, const std::vector<std::string>& rules);
  // False: there is no such user. The caller's own session hears of it before it is closed.
  // REQUIRES: not the default user.
  bool remove(std::string_view name, const protocol::Session* caller);
  // requirepass is another.
  void set_password(std::string_view password);

  bool has_file() const { return parts_.file != nullptr; }
  // All users are those of the text, or of the file; nothing changes on a failure. A default user
  // whom it does not name has all rights, and requirepass.
  Status load(std::string_view text, std::string_view source, const protocol::Session* caller);
  Status load(const protocol::Session* caller);
  Status save();

 private:
  void note_changed(const protocol::User& user);
  void close_all_of(const protocol::User& user, const protocol::Session* caller);
  bool listens_too_far(const protocol::Session& session) const;

  Parts parts_;
};

}  // namespace redlock::server
