#include "server/users/accounts.h"

#include "base/invariant.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace redlock::server {

using protocol::Session;
using protocol::User;

User::Refused Accounts::change(std::string_view name, const std::vector<std::string>& rules) {
  User changed = parts_.access.users().copy_of(name);
  if (User::Refused refused = changed.apply_all(rules)) return refused;
  note_changed(*parts_.access.users().put(std::move(changed)));
  return {};
}

bool Accounts::remove(std::string_view name, const Session* caller) {
  const protocol::Users::Shared gone = parts_.access.users().remove(name);
  if (gone == nullptr) return false;
  close_all_of(*gone, caller);
  return true;
}

void Accounts::set_password(std::string_view password) {
  parts_.access.set_password(password);
  note_changed(parts_.access.users().default_user());
}

Status Accounts::load(std::string_view text, std::string_view source, const Session* caller) {
  protocol::Users& users = parts_.access.users();
  auto read = users.read(text, source);
  if (!read) return read.error();
  const std::vector<User>& named = read.value();
  const bool names_default = std::any_of(named.begin(), named.end(), [](const User& user) {
    return user.name() == protocol::kDefaultUser;
  });
  for (const protocol::Users::Shared& changed : users.replace_all(std::move(read).value())) {
    if (changed != users.shared_default()) close_all_of(*changed, caller);
  }
  if (!names_default) parts_.access.apply_password();
  note_changed(users.default_user());
  return Done{};
}

Status Accounts::load(const Session* caller) {
  INVARIANT(has_file(), "users of a file that there is not");
  const auto text = parts_.file->read();
  if (!text) return text.error();
  return load(text.value(), parts_.file->path(), caller);
}

Status Accounts::save() {
  INVARIANT(has_file(), "users for a file that there is not");
  return parts_.file->write(parts_.access.users().text());
}

void Accounts::note_changed(const User& user) {
  for (const auto& [id, session] : parts_.sessions.all()) {
    if (session->user() != &user) continue;
    session->note_user_changed();
    if (session->is_listening() && listens_too_far(*session)) {
      session->cut_off(Session::Cut::killed);
    }
  }
}

void Accounts::close_all_of(const User& user, const Session* caller) {
  for (const auto& [id, session] : parts_.sessions.all()) {
    if (session->user() != &user) continue;
    session.get() == caller ? session->close_after_output()
                            : session->cut_off(Session::Cut::killed);
  }
}

bool Accounts::listens_too_far(const Session& session) const {
  using Kind = PubSub::Kind;
  for (const Kind kind : {Kind::channel, Kind::shard_channel, Kind::pattern}) {
    const auto names = parts_.pubsub.names_of(session, kind);
    const bool is_pattern = kind == Kind::pattern;
    const bool is_too_far = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      return !session.user()->may_hear(name, is_pattern);
    });
    if (is_too_far) return true;
  }
  return false;
}

}  // namespace redlock::server
