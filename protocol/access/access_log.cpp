#include "protocol/access/access_log.h"

#include <algorithm>
#include <utility>

namespace redlock::protocol {

namespace {

constexpr std::size_t kObjectBytesMax = 1024;  // of a key that nobody may use

bool is_same(const AccessLog::Entry& a, const AccessLog::Entry& b) {
  return a.reason == b.reason && a.context == b.context && a.object == b.object &&
         a.username == b.username;
}

}  // namespace

std::string_view reason_name(AccessLog::Reason reason) {
  constexpr std::string_view kNames[] = {"command", "key", "channel", "auth"};
  return kNames[static_cast<std::size_t>(reason)];
}

std::string_view context_name(AccessLog::Context context) {
  constexpr std::string_view kNames[] = {"toplevel", "multi", "lua"};
  return kNames[static_cast<std::size_t>(context)];
}

void AccessLog::add(Entry entry) {
  ++refused_[static_cast<std::size_t>(entry.reason)];
  if (entry.object.size() > kObjectBytesMax) entry.object.resize(kObjectBytesMax);
  const auto end =
      entries_.begin() + static_cast<std::ptrdiff_t>(std::min(kLookedAt, entries_.size()));
  const auto same = std::find_if(entries_.begin(), end, [&](const Entry& other) {
    return is_same(entry, other) && entry.when - other.when <= kSameWithin;
  });
  if (same != end) {
    entry.count = same->count + 1;
    entries_.erase(same);
  }
  entries_.push_front(std::move(entry));
  if (entries_.size() > entries_max_) entries_.pop_back();
}

}  // namespace redlock::protocol
