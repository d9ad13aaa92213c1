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
  void on_release(Instant valid_until, Duration ttl, Instant asked);  // of the lock
  // Whether a line about a wait may be said now.
  bool takes_wait_line(Instant now);
  // At the end of each turn: what has become of the links, and of what is under way. `say` gets the
  // lines; empty: nobody reads them.
  void look(const Group& group, std::size_t under_way, std::size_t kept, const Say& say);

  Figures figures() const;

 private:
  // Written by the client's thread alone, and read by any: plain loads and stores, as nothing else
  // hangs on their order.
  class Counter {
   public:
    Counter& operator=(std::uint64_t count) {
      count_.store(count, std::memory_order_relaxed);
      return *this;
    }
    Counter& operator++() { return *this = *this + 1; }
    operator std::uint64_t() const { return count_.load(std::memory_order_relaxed); }  // NOLINT

   private:
    std::atomic<std::uint64_t> count_ = 0;
  };
  // As DurationBuckets, for any thread.
  class Times {
   public:
    void add(Duration took);
    Figures::Times read() const;

   private:
    std::array<Counter, DurationBuckets::kEdges.size() + 1> counts_{};
    Counter sum_;  // ns
  };
  struct Node {
    std::string name = {};
    std::atomic<bool> is_connected = false;
    Counter connections = {};
    Counter round_trip = {};  // ns
    Counter votes_yes = {};
    Counter votes_no = {};
    Counter votes_none = {};
    std::string problem = {};  // that was told of last, of a node that is not connected
  };

  using Nodes = std::vector<Node>;

  void name_nodes(const std::vector<Group::Node>& nodes);
  static void look_at(Node& node, const Link& link, const Say& say);

  Counter attempts_;
  Counter acquired_;
  Counter refused_;
  Counter failed_;
  Counter split_votes_;
  Counter second_rounds_;
  Counter extended_;
  Counter not_extended_;
  Counter lost_;
  Counter released_;
  Counter released_late_;
  Times acquisition_times_;
  Times left_at_release_;
  Counter under_way_;
  Counter kept_;
  mutable std::mutex nodes_mutex_;  // of the pointer
  std::shared_ptr<Nodes> nodes_;    // others, when the group's nodes change
  std::uint64_t node_changes_ = 0;
  Instant next_wait_line_ = Instant(0ns);
};

}  // namespace redlock::coordinator
