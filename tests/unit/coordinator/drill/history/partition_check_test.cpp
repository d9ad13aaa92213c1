// What a drill of partitions has to show, on histories made by hand: five nodes, two clients.
#include "coordinator/drill/history/partition_check.h"

#include <catch2/catch.hpp>

namespace redlock::drill {
namespace {

class Told {
 public:
  Told() {
    history_.header.nodes = {"a", "b", "c", "d", "e"};
    history_.header.clients = {"client 1", "client 2"};
  }

  Told& at(Duration when) {
    now_ = Instant(when);
    return *this;
  }
  // So many nodes and client 1.
  Told& cut(int nodes = 3) { return of_nodes(nodes, What::cut); }
  Told& healed() { return of_nodes(3, What::healed); }
  Told& asks(const std::string& who) { return add({.who = who, .what = What::asks}); }
  Told& refused(const std::string& who) { return add({.who = who, .what = What::refused}); }
  Told& acquired(const std::string& who) {
    return add({.who = who, .what = What::acquired, .lock = "lock 1"});
  }
  PartitionReport report() const {
    return check_partitions(history_, {.ttl = 2s, .attempt_max = 3s});
  }

 private:
  Told& of_nodes(int nodes, What what) {
    for (int i = 1; i <= nodes; ++i) {
      add({.who = "node " + std::to_string(i), .what = what, .from = {"client 1"}});
    }
    return *this;
  }
  Told& add(Event event) {
    event.at = now_;
    history_.events.push_back(std::move(event));
    return *this;
  }

  History history_;
  Instant now_{};
};

TEST_CASE("as it should be: one is refused, the other goes on, and both do after the healing") {
  const PartitionReport report = Told()
                                     .at(1s)
                                     .cut()
                                     .at(2s)
                                     .asks("client 1")
                                     .asks("client 2")
                                     .at(3s)
                                     .acquired("client 2")
                                     .refused("client 1")
                                     .at(5s)
                                     .healed()
                                     .at(6s)
                                     .asks("client 1")
                                     .at(6500ms)
                                     .acquired("client 1")
                                     .report();
  CHECK(report.differences.empty());
  CHECK(report.cut_off == 1);
  CHECK(report.refused == 1);
  CHECK(report.refused_within == 1s);
  CHECK(report.acquired_by_others == 1);
  CHECK(report.back_within == 1500ms);
}

TEST_CASE("a lock without a quorum is a difference, and an attempt that began before is none") {
  CHECK(Told()
            .at(1s)
            .cut()
            .at(2s)
            .asks("client 1")
            .acquired("client 1")
            .report()
            .differences.size() == 1);
  CHECK(Told().asks("client 1").at(1s).cut().acquired("client 1").report().differences.empty());
}

TEST_CASE("others that get nothing for a TTL and a half are a difference, unless all are cut off") {
  CHECK(Told().at(1s).cut().at(4s).healed().report().differences.size() == 1);
  CHECK(Told().at(1s).cut().at(3999ms).healed().report().differences.empty());
}

TEST_CASE("who is cut off is told so in time") {
  CHECK(Told()
            .at(1s)
            .cut()
            .asks("client 1")
            .asks("client 2")
            .acquired("client 2")
            .at(4001ms)
            .healed()
            .report()
            .differences.size() == 1);
  CHECK(Told()
            .at(1s)
            .cut()
            .asks("client 1")
            .asks("client 2")
            .acquired("client 2")
            .at(3900ms)
            .healed()
            .report()
            .differences.empty());
  CHECK(Told()
            .at(1s)
            .cut()
            .asks("client 1")
            .at(4001ms)
            .refused("client 1")
            .report()
            .differences.size() == 1);
}

TEST_CASE("two of five nodes can be done without") {
  CHECK(Told().at(1s).cut(2).report().cut_off == 0);
  CHECK(Told().at(1s).cut(3).report().cut_off == 1);
}

}  // namespace
}  // namespace redlock::drill
