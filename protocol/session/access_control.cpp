#include "protocol/session/access_control.h"

#include "base/text/same_secret.h"

#include <algorithm>

namespace redlock::protocol {

bool AccessControl::admits(std::string_view user, std::string_view password) const {
  if (user != "default") return false;
  if (!is_required()) return true;  // Redis's "nopass": any password will do
  return is_same_secret(password, password_);
}

}  // namespace redlock::protocol
