// Pulse: when a node was heard, and how fast it answers. A link keeps it: for its own patience, and
// for people who look.
#pragma once

#include "base/duration_buckets.h"
#include "base/time.h"

namespace redlock::coordinator {

class Pulse {
 public:
  // A question was sent while no other waited for its answer.
  void on_first_question(Instant now) { heard_ = asked_ = now; }
  void on_bytes(Instant now) { heard_ = now; }
  void on_answer(Instant now) {
    if (asked_ == kNever) return;
    round_trip_ = now - asked_;
    round_trips_.add(round_trip_);
    asked_ = kNever;
  }
  void on_greeting(Instant now) { greeted_ = now; }

  // When bytes came, or the first answer became due.
  Instant heard() const { return heard_; }
  // When the node told its facts.
  Instant greeted() const { return greeted_; }
  // Of the last question that found the link idle; 0: none was answered yet.
  Duration round_trip() const { return round_trip_; }
  // Of all such questions, since the start or since they were forgotten.
  const DurationBuckets& round_trips() const { return round_trips_; }
  void forget_round_trips() { round_trips_ = {}; }

 private:
  Instant heard_;
  Instant greeted_;
  Instant asked_ = kNever;  // of the question that is timed
  Duration round_trip_{};
  DurationBuckets round_trips_;
};

}  // namespace redlock::coordinator
