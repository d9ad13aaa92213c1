// What people are told of a wait for a lock: while it lasts, in one line of a terminal,
// and at its end.
#pragma once

#include "base/time.h"
#include <redlock/client.h>

#include <cstddef>
#include <optional>
#include <string>

namespace redlock::coordinator {

// Why a lock is waited for: for a line that has room, for one that has less, and for one that has
// not even that for who holds it.
struct WaitReason {
  std::string text;
  std::string shorter;
  std::string brief;
};

// holder_age: since the nodes told of the holder, whose time is reckoned on from then.
WaitReason held_reason(const std::optional<Holder>& holder, Duration holder_age);
// What the nodes say instead: how many voted, and what became of the others.
WaitReason reason_of(const Error& why);

struct WaitView {
  std::string name;  // of the lock
  WaitReason why;
  Duration waited;
  std::optional<Duration> wait;  // at most; nullopt: for ever
  unsigned turn;                 // of the spinner
};

// "| printer: held by another, at most 17 s more (waited 3 s of 30 s)", within `columns`.
std::string waiting_text(const WaitView& view, std::size_t columns);

// "; waited 30.0 s": what the last message of a wait has more than that of an attempt.
std::string waited_words(const Error& error, Duration waited, std::optional<Duration> wait);

}  // namespace redlock::coordinator
