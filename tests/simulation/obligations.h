// Obligations: what a node owes to whoever was told of its locks, as the world knows it. So each
// start is judged by itself, also where nobody happens to ask for the lock that it has forgotten.
//
//   forgotten   before a lock that somebody was told of has run out, the node would grant it again:
//               it neither has the lock nor waits for its end (rules R)
//   misread     a start takes what it finds for something else than happened, or waits for longer
//               than the last live lock asks for (rules R5, R6)
//
// The world looks at the node's own table at the moment of its death. What waits for the ledger's
// disk was told to nobody.
#pragma once

#include "server/node/node.h"
#include "server/recovery/recovery.h"
#include "tests/simulation/agenda.h"
#include "tests/simulation/referee.h"
#include "tests/simulation/scenario.h"
#include "tests/simulation/skewed_clock.h"

#include <optional>
#include <string>
#include <vector>

namespace redlock::simulation {

class Obligations {
 public:
  // unsure: killed while it stopped, with a snapshot or without.
  enum class End : std::uint8_t { none, crash, clean, disk_lost, unsure };

  Obligations(const Scenario& scenario, Agenda& agenda, Referee& referee, unsigned node)
      : scenario_(scenario), agenda_(agenda), referee_(referee), node_(node) {}

  // After each turn.
  void note_turn(const server::Node& node, Instant now);
  // The process has ended. is_told: no reply of it waited for the disk.
  void note_end(End end, const server::Node& node, Instant now, bool is_told);
  void note_power_loss();
  // From here on nobody can say what a start finds: until the disk is another.
  void note_disk_trouble() { has_trouble_ = true; }
  void note_new_disk();

  // A start has decided, and restored what it restores.
  void check_start(const server::Decision& decision, server::Node& node, Instant start,
                   const SkewedClock& clock);
  // Its run is durable.
  void note_begun() { begun_at_ = agenda_.now(); }
  // It cannot do its work from now on, until the pause ends or the process does.
  void note_pause() { paused_since_ = agenda_.now(); }
  void note_pause_end();

 private:
  struct Owed {
    std::string key;
    std::string value;
    Instant deadline;
    bool is_same_boot;
    TrueTime until;  // for whoever relies on it, whatever the clocks
  };

  Instant latest_to_wait_for() const;
  bool may_lag() const;
  bool covers(const Owed& owed, Instant until, const SkewedClock& clock) const;
  void check_owed(const server::Decision& decision, server::Node& node, Instant start,
                  const SkewedClock& clock);
  void check_cause(const server::Decision& decision);
  void check_wait(const server::Decision& decision);

  const Scenario& scenario_;
  Agenda& agenda_;
  Referee& referee_;
  const unsigned node_;
  std::vector<Owed> owed_;
  Instant latest_{};                  // deadline of a live lock
  TrueTime lags_since_ = kEndOfTime;  // the ledger still tells of a later one than is needed
  TrueTime begun_at_ = kEndOfTime;
  TrueTime paused_since_ = kEndOfTime;
  TrueTime paused_until_{};
  std::optional<Instant> wait_end_;  // of the last start, in this boot
  End end_ = End::none;
  bool is_other_boot_ = false;
  bool is_steady_ = false;  // what the ledger told was up to date at the end
  bool is_unsure_ = false;  // the last start may not have become durable
  bool has_trouble_ = false;
};

}  // namespace redlock::simulation
