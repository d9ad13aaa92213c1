// What one node answered, and why an operation on a lock failed.
#pragma once

#include <redlock/same_library.h>
#include <redlock/visibility.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace redlock {

enum class AnswerKind : std::uint8_t {
  none,         // nothing yet
  yes,          // granted, extended, deleted; for reads: answered
  no,           // held by another; not this holder's
  recovering,   // in its restart delay
  error,        // another error reply
  denied,       // wrong password, or none, or not permitted
  duplicate,    // the same node as another address
  refused,      // no connection could be made
  broken,       // the connection ended before the answer
  timed_out,    // no answer within the node timeout
  overloaded,   // too many requests wait for this node already
  other_group,  // it belongs to a group of other nodes than were named, or of another epoch
  unsafe,       // not asked for its vote, as its settings make that worth less: the text says which
};

// For logs and JSON: "yes", "recovering", "timed out" …
REDLOCK_PUBLIC std::string_view answer_name(AnswerKind kind);

struct REDLOCK_PUBLIC NodeAnswer {
  std::string node = {};  // its address; never with the password
  AnswerKind kind = AnswerKind::none;
  std::string text = {};             // a sentence for people; the node's own words if it has any
  std::chrono::nanoseconds took{0};  // from the start of the operation; 0 for kind none
};

enum class ErrorCode : std::uint8_t {
  held,          // another holds the lock
  not_held,      // extend, release: the lock is not, or not any more, this holder's
  no_quorum,     // too few nodes voted to know
  denied,        // a quorum cannot vote as passwords are wrong or missing
  too_late,      // a quorum granted it, but not before the validity would have ended
  unfenced,      // a quorum granted it, but too few nodes give fencing tokens
  not_admitted,  // admit: some nodes stay unfenced
  lost,          // a guard's lock: it could not be kept
  invalid,       // an argument is out of its bounds, here or at the nodes: the text says which
  wrong_thread,  // a blocking call where it would wait for itself
  stopped,       // the client ended, or the operation was cancelled
  overloaded,    // more operations at once than a client takes, or than its nodes answer
  other_group,   // the nodes named are not those of the group that one of them belongs to
  system,        // the system gives no thread or no descriptor: the text says which
};

// "held", "no quorum" …
REDLOCK_PUBLIC std::string_view error_name(ErrorCode code);

struct REDLOCK_PUBLIC Error {
  ErrorCode code = ErrorCode::stopped;
  std::string text = {};               // a sentence for people
  std::vector<NodeAnswer> nodes = {};  // in the options' order; empty if none was asked
};

}  // namespace redlock
