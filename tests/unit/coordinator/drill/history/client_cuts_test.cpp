// From which nodes a client was cut off, and when.
#include "coordinator/drill/history/client_cuts.h"

#include "tests/unit/coordinator/drill/history/told_history.h"

#include <fmt/format.h>

using namespace redlock;
using namespace redlock::drill;

namespace {

// As "anna 10 to 50 from node 1", in milliseconds.
std::vector<std::string> cuts_of(const std::string& transcript) {
  const History history = told_history(
      transcript,
      {.nodes = {"10.0.0.1:7001", "10.0.0.2:7001", "10.0.0.3:7001"}, .clients = {"anna"}});
  const Story story = tell(history);
  std::vector<std::string> told;
  for (const ClientCut& cut : client_cuts(history, story)) {
    const auto ms = [](Instant at) {
      return static_cast<double>(at.time_since_epoch().count()) / 1e6;
    };
    told.push_back(fmt::format("{} {} to {} {}", story.parties[cut.client], ms(cut.time.from),
                               ms(cut.time.to), note_of(cut, story)));
  }
  return told;
}

}  // namespace

TEST_CASE("nodes that are cut off one after the other within a millisecond are so together") {
  CHECK(
      cuts_of("5 anna asks\n"
              "10 node 1 cut\n 10.4 node 2 cut\n"
              "50 node 1 healed\n 50.4 node 2 healed\n 60 anna asks\n") ==
      std::vector<std::string>{"anna 10.4 to 50 from node 1 and node 2, and so from every quorum"});
}

TEST_CASE("a millisecond in which a client has other nodes is a time of its own") {
  CHECK(cuts_of("5 anna asks\n"
                "10 node 1 cut\n 11 node 2 cut\n"
                "50 node 1 healed\n 51 node 2 healed\n 60 anna asks\n") ==
        std::vector<std::string>{"anna 10 to 11 from node 1",
                                 "anna 11 to 50 from node 1 and node 2, and so from every quorum",
                                 "anna 50 to 51 from node 2"});
}
