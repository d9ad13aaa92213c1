// Users: all users of a node by name. There is always one whose name is "default": who connects is
// that one until he says who he is.
//
// A user is shared with the sessions that are his, so a change is theirs at once; one that was
// taken out lives on until they are gone.
//
// Thread safety: none.
#pragma once

#include "protocol/access/user.h"
#include <redlock/result.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::protocol {

// Names have no blanks: they stand in lines.
bool is_user_name(std::string_view name);

class Users {
 public:
  using Shared = std::shared_ptr<User>;
  using ByName = std::map<std::string, Shared, std::less<>>;

  // With the user "default", who has all rights and no password. `rights` outlives it.
  explicit Users(const CommandRights& rights);

  const ByName& all() const { return users_; }
  const User& default_user() const { return *default_; }
  const Shared& shared_default() const { return default_; }
  // nullptr if there is none.
  Shared find(std::string_view name) const;

  // The user's rules as they would be: a new one's, if there is none. Nothing changes.
  User copy_of(std::string_view name) const;
  // Takes the changed copy over. The rules are those of its name from now on.
  const Shared& put(User user);
  // nullptr: there is none. REQUIRES: not the default user.
  Shared remove(std::string_view name);

  // requirepass: the default user's only password; empty: he needs none.
  void set_default_password(std::string_view password);

  // All users of a text of "user …" lines, instead of those that are there; a default user that is
  // not among them is as new. Blank lines and lines that begin with '#' are passed over. All or
  // nothing: a failure names each line that is not taken. `source` is the text's name.
  Result<std::vector<User>> read(std::string_view text, std::string_view source) const;
  // Takes them over. Returns those whose rights are others now, or who are gone.
  std::vector<Shared> replace_all(std::vector<User> users);
  // "user …" lines, by name.
  std::string text() const;

 private:
  Status read_line(std::string_view line, std::vector<User>& users) const;

  const CommandRights* rights_;
  ByName users_;
  Shared default_;
};

}  // namespace redlock::protocol
