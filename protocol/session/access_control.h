// Who may speak: one password for the one user "default", as Redis's requirepass,
// and protected mode.
#pragma once

#include <string>
#include <string_view>

namespace redlock::protocol {

class AccessControl {
 public:
  // An empty password: everybody is let in.
  void set_password(std::string password) { password_ = std::move(password); }
  const std::string& password() const { return password_; }
  bool is_required() const { return !password_.empty(); }

  void set_protected_mode(bool on) { protected_mode_ = on; }
  bool protected_mode() const { return protected_mode_; }

  // Takes the same time for every wrong password of a length.
  bool admits(std::string_view user, std::string_view password) const;

  // Protected mode: with no password only this machine itself may connect.
  bool refuses_peer(bool peer_is_local) const {
    return protected_mode_ && !is_required() && !peer_is_local;
  }

 private:
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
