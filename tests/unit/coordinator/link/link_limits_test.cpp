// How long a link waits for a connection, and for a node to say who it is.
#include "coordinator/link/link.h"

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::coordinator;

namespace {

struct Link {
  Random random{1};
  Pipeline pipeline{{}, random};
  Instant now = Instant(1h);

  Link() {
    pipeline.start(now);
    pipeline.send({.operation = {1}, .kind = RequestKind::info}, now);
  }
  // What the request was told; empty while it waits.
  std::string told() {
    std::vector<Completion> done;
    pipeline.take_completions(done);
    if (done.empty()) return "";
    return std::string(answer_name(done[0].answer.kind)) + ": " + done[0].answer.text;
  }
  void pass(Duration length) {
    now += length;
    pipeline.on_time(now);
  }
};

}  // namespace

TEST_CASE("a dial that nothing comes of is given up after its time, and made again") {
  Link link;
  CHECK(link.pipeline.take_wish() == Pipeline::Wish::dial);
  CHECK(link.pipeline.next_deadline() == later(link.now, Pipeline::kDialTimeMax));
  link.pass(Pipeline::kDialTimeMax - 1ns);
  CHECK(link.told().empty());
  link.pass(1ns);
  CHECK(link.told() == "refused: no answer to a connection within 5.0 s");
  CHECK(link.pipeline.problem().kind == AnswerKind::refused);
  CHECK(link.pipeline.take_wish() == Pipeline::Wish::hang_up);
  link.pass(Pipeline::kBackoffMax);
  CHECK(link.pipeline.take_wish() == Pipeline::Wish::dial);
}

TEST_CASE("a node that does not say who it is within its time is given up") {
  Link link;
  link.pipeline.on_connected(link.now);
  CHECK(link.pipeline.connection() == 1);
  link.pass(Pipeline::kGreetingTimeMax - 1ns);
  CHECK(link.told().empty());
  link.pass(1ns);
  CHECK(link.told() == "broken: no answer to a connection within 10.0 s");
  CHECK(link.pipeline.problem().kind == AnswerKind::broken);
}
