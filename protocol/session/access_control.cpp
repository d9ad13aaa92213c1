#include "protocol/session/access_control.h"

#include "protocol/access/password_hash.h"

namespace redlock::protocol {

void AccessControl::set_password(std::string_view password) {
  if (password == password_) return;
  password_ = password;
  users_.set_default_password(password);
}

// A name that nobody has costs what a wrong password does.
bool AccessControl::admits(std::string_view user, std::string_view password) const {
  const Users::Shared known = users_.find(user);
  if (known != nullptr) return known->admits(password);
  static_cast<void>(password_hash(password));
  return false;
}

bool AccessControl::log_in(Session& session, std::string_view user,
                           std::string_view password) const {
  return admits(user, password) && log_in_as(session, user);
}

bool AccessControl::log_in_as(Session& session, std::string_view user) const {
  Users::Shared known = users_.find(user);
  if (known == nullptr || !known->is_on()) return false;
  session.set_user(std::move(known));
  session.set_authenticated(true);
  return true;
}

void AccessControl::make_default(Session& session) const {
  session.set_user(users_.shared_default());
  session.set_authenticated(!is_required());
}

}  // namespace redlock::protocol
