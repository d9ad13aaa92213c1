// What a run has done to a key: the difference between its record before and after, as the one
// operation on a quorum of nodes that brings it about (rule D4).
#pragma once

#include "base/time.h"
#include "server/locks/lock_kind.h"

#include <cstdint>
#include <optional>
#include <string>

namespace redlock::coordinator {

// A key's record as a command sees it: without its header, and with what is left of the client's
// own TTL (rule D2). nullopt where it stands as an optional: the key is free.
struct SeenRecord {
  server::LockKind kind = server::LockKind::text;
  std::string payload = {};
  Instant deadline = kNever;

  bool has_content_of(const SeenRecord& other) const {
    return kind == other.kind && payload == other.payload;
  }
  friend bool operator==(const SeenRecord&, const SeenRecord&) = default;
};

enum class ChangeKind : std::uint8_t {
  none,
  create,   // free before
  extend,   // the same content, a later deadline
  shorten,  // the same content, an earlier one
  replace,  // another content
  release,  // free after
};

// What becomes of a record's deadline where it is there before and after.
enum class DeadlineMove : std::uint8_t { none, later, earlier };

inline DeadlineMove deadline_move(const SeenRecord& before, const SeenRecord& after) {
  if (after.deadline == before.deadline) return DeadlineMove::none;
  return after.deadline > before.deadline ? DeadlineMove::later : DeadlineMove::earlier;
}

inline ChangeKind change_between(const std::optional<SeenRecord>& before,
                                 const std::optional<SeenRecord>& after) {
  if (!before && !after) return ChangeKind::none;
  if (!before) return ChangeKind::create;
  if (!after) return ChangeKind::release;
  if (!after->has_content_of(*before)) return ChangeKind::replace;
  switch (deadline_move(*before, *after)) {
    case DeadlineMove::none:
      return ChangeKind::none;
    case DeadlineMove::later:
      return ChangeKind::extend;
    default:
      return ChangeKind::shorten;
  }
}

}  // namespace redlock::coordinator
