// ClientReport: what a client tells of itself beside the outcomes of its operations. It counts for
// figures.h, and finds out what is worth a line of a log.
//
// Thread safety: figures() from any thread; all else on the client's thread.
#pragma once

#include "base/duration_buckets.h"
#include "coordinator/group/group.h"
#include <redlock/client.h>

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace redlock::coordinator {

class ClientReport {
 public:
  using Say = std::function<void(Severity, std::string)>;

  // Lines about waits come at most so often: in an outage thousands may wait for the same reason.
  static constexpr Duration kWaitLineInterval = 1s;

  explicit ClientReport(const std::vector<Group::Node>& nodes) { name_nodes(nodes); }

  void on_attempt_failed() { ++attempts_; }
  void on_acquisition(AcquisitionOutcome outcome, Duration took);
  void on_extension(ExtensionOutcome outcome);
  void on_loss() { ++lost_; }
  void on_release(const HeldLock& lock, Instant asked);
  // Whether a line about a wait may be said now.
  bool takes_wait_line(Instant now);
  // At the end of each turn: what has become of the links, and of what is under way. `say` gets the
  // lines; empty: nobody reads them.
  void look(const Group& group, std::size_t under_way, std::size_t kept, const Say& say);

  Figures figures() const;

 private:
  using Counter = std::atomic<std::uint64_t>;
  // As DurationBuckets, for any thread.
  class Times {
   public:
    void add(Duration took);
    Figures::Times read() const;

   private:
    std::array<Counter, DurationBuckets::kEdges.size() + 1> counts_{};
    std::atomic<Duration::rep> sum_ = 0;
  };
  struct Node {
    std::string name = {};
    std::atomic<bool> is_connected = false;
    Counter connections = 0;
    std::atomic<Duration::rep> round_trip = 0;
    Counter votes_yes = 0;
    Counter votes_no = 0;
    Counter votes_none = 0;
    std::string problem = {};  // that was told of last, of a node that is not connected
  };

  using Nodes = std::vector<Node>;

  void name_nodes(const std::vector<Group::Node>& nodes);
  static void look_at(Node& node, const Link& link, const Say& say);

  Counter attempts_ = 0;
  Counter acquired_ = 0;
  Counter refused_ = 0;
  Counter failed_ = 0;
  Counter split_votes_ = 0;
  Counter second_rounds_ = 0;
  Counter extended_ = 0;
  Counter not_extended_ = 0;
  Counter lost_ = 0;
  Counter released_ = 0;
  Counter released_late_ = 0;
  Times acquisition_times_;
  Times left_at_release_;
  std::atomic<std::size_t> under_way_ = 0;
  std::atomic<std::size_t> kept_ = 0;
  mutable std::mutex nodes_mutex_;  // of the pointer
  std::shared_ptr<Nodes> nodes_;    // others, when the group's nodes change
  std::uint64_t node_changes_ = 0;
  Instant next_wait_line_ = Instant(0ns);
};

}  // namespace redlock::coordinator
