#include "server/grants/lock_quotas.h"

namespace redlock::server {

std::size_t LockQuotas::count(std::string_view user, Instant now) {
  const auto of_user = keys_.find(user);
  if (of_user == keys_.end()) return 0;
  ByDeadline& keys = of_user->second;
  while (!keys.empty() && keys.begin()->first <= now) {
    owners_.erase(keys.begin()->second);
    keys.erase(keys.begin());
  }
  return keys.size();
}

bool LockQuotas::is_of(std::string_view user, std::string_view key) const {
  const auto found = owners_.find(key);
  return found != owners_.end() && found->second.user == user;
}

void LockQuotas::take(std::string_view user, std::string_view key, Instant deadline) {
  end(key);
  owners_.emplace(key, Owner{std::string(user), deadline});
  const auto of_user = keys_.try_emplace(std::string(user)).first;
  of_user->second.emplace(deadline, key);
}

void LockQuotas::move(std::string_view key, Instant deadline) {
  const auto found = owners_.find(key);
  if (found == owners_.end() || found->second.deadline == deadline) return;
  ByDeadline& keys = keys_.find(found->second.user)->second;
  keys.erase({found->second.deadline, found->first});
  found->second.deadline = deadline;
  keys.emplace(deadline, found->first);
}

void LockQuotas::extend(std::string_view key, Instant deadline) {
  const auto found = owners_.find(key);
  if (found != owners_.end() && found->second.deadline < deadline) move(key, deadline);
}

void LockQuotas::end(std::string_view key) {
  const auto found = owners_.find(key);
  if (found != owners_.end()) remove(found);
}

void LockQuotas::remove(Owners::iterator at) {
  const auto of_user = keys_.find(at->second.user);
  of_user->second.erase({at->second.deadline, at->first});
  if (of_user->second.empty()) keys_.erase(of_user);
  owners_.erase(at);
}

void LockQuotas::clear() {
  owners_.clear();
  keys_.clear();
}

}  // namespace redlock::server
