#include "protocol/session/access_control.h"

#include <algorithm>

namespace redlock::protocol {

bool AccessControl::admits(std::string_view user, std::string_view password) const {
  if (user != "default") return false;
  if (!is_required()) return true;  // Redis's "nopass": any password will do
  unsigned difference = password.size() == password_.size() ? 0 : 1;
  for (std::size_t i = 0; i < password_.size(); ++i) {
    const char given = i < password.size() ? password[i] : '\0';
    difference |= static_cast<unsigned char>(given ^ password_[i]);
  }
  return difference == 0;
}

}  // namespace redlock::protocol
