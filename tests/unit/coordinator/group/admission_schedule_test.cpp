#include "coordinator/group/admission_schedule.h"

#include "tests/unit/coordinator/quorum/machine_fixture.h"

using namespace redlock;
using namespace redlock::coordinator;

namespace {

// A schedule over five nodes, numbered from 1; 4 and 5 are the ones that are met unfenced.
class Coordinator {
 public:
  void meets_unfenced(unsigned node, Duration admit_in, Duration when) {
    schedule.on_unfenced(node - 1, admit_in, at(when));
  }
  void loses(unsigned node) { schedule.on_connection_ended(node - 1); }

  // The nodes of an admission that begins now: "read 4", "look 4 5", "" for none.
  std::string begin(Duration when) {
    const auto plan = schedule.begin(at(when));
    if (!plan) return "";
    admission_.emplace(Terms{.nodes = 5, .ttl = 30s, .node_timeout = 500ms, .clock_drift = 0.01},
                       *plan);
    std::string text = plan->looked ? "read" : "look";
    for (NodeIndex node = 0; node < 5; ++node) {
      if (plan->candidates.test(node)) text += ' ' + std::to_string(node + 1);
    }
    Actions actions;
    admission_->start(at(when), actions);
    return text;
  }

  void hears(unsigned node, AdmissionReply reply, Duration when) {
    Actions actions;
    reply.to = admission_->question();
    reply.answer.kind = AnswerKind::yes;
    admission_->on_answer(node - 1, reply, at(when), actions);
  }
  // All goes well: three fenced nodes tell their counters, the candidates take the floor.
  void admits(Duration when) {
    for (const unsigned node : {4u, 5u}) hears(node, {}, when);
    for (const unsigned node : {1u, 2u, 3u}) hears(node, {.fenced = true, .counter = 9}, when);
    for (const unsigned node : {4u, 5u}) hears(node, {}, when);
    REQUIRE(admission_->finished());
    end(when);
  }
  // Nobody answers.
  void fails(Duration when) {
    Actions actions;
    admission_->on_time(at(when), actions);
    REQUIRE(admission_->finished());
    end(when);
  }
  void end(Duration when) { schedule.end(*admission_, at(when)); }
  Duration next() const { return schedule.next_deadline().value() - at(0ms); }

  Random random{7};
  AdmissionSchedule schedule{5, random};

 private:
  std::optional<Admission> admission_;
};

}  // namespace

TEST_CASE("who is met unfenced is admitted at once, or when its time is over") {
  Coordinator coordinator;
  CHECK_FALSE(coordinator.schedule.next_deadline().has_value());
  coordinator.meets_unfenced(5, 700ms, 0ms);
  CHECK(coordinator.next() == 700ms);
  CHECK(coordinator.begin(699ms).empty());
  CHECK(coordinator.begin(700ms) == "look 5");
  Coordinator at_once;
  at_once.meets_unfenced(5, 0ms, 10ms);
  CHECK(at_once.begin(10ms) == "read 5");
}

TEST_CASE("one admission at a time takes all that are due") {
  Coordinator coordinator;
  coordinator.meets_unfenced(4, 0ms, 0ms);
  coordinator.meets_unfenced(5, 0ms, 0ms);
  CHECK(coordinator.begin(0ms) == "read 4 5");
  CHECK(coordinator.begin(1ms).empty());
  CHECK_FALSE(coordinator.schedule.next_deadline().has_value());
  coordinator.admits(2ms);
  CHECK_FALSE(coordinator.schedule.next_deadline().has_value());
  CHECK(coordinator.begin(1h).empty());
}

TEST_CASE("one that was met during an admission is next") {
  Coordinator coordinator;
  coordinator.meets_unfenced(4, 0ms, 0ms);
  coordinator.begin(0ms);
  coordinator.meets_unfenced(5, 0ms, 1ms);
  coordinator.admits(2ms);
  CHECK(coordinator.begin(2ms) == "read 5");
}

TEST_CASE("an admission that fails is tried again, later and later") {
  Coordinator coordinator;
  coordinator.meets_unfenced(5, 0ms, 0ms);
  Duration now = 0ms;
  Duration backoff = AdmissionSchedule::kBackoffMin;
  for (int i = 0; i < 12; ++i) {
    REQUIRE_FALSE(coordinator.begin(now).empty());
    now += 500ms;
    coordinator.fails(now);
    const Duration pause = coordinator.next() - now;
    CHECK(pause >= backoff / 2);
    CHECK(pause <= backoff);
    backoff = std::min(backoff * 2, AdmissionSchedule::kBackoffMax);
    now += pause;
  }
  CHECK(backoff == AdmissionSchedule::kBackoffMax);
}

TEST_CASE("who says that it is too early is asked again when it said") {
  Coordinator coordinator;
  coordinator.meets_unfenced(5, 100ms, 0ms);
  CHECK(coordinator.begin(100ms) == "look 5");
  coordinator.hears(5, {.admit_in = 300ms}, 101ms);
  coordinator.end(101ms);
  CHECK(coordinator.next() == 401ms);
  CHECK(coordinator.begin(401ms) == "look 5");
}

TEST_CASE("a node whose connection ended is forgotten until it greets again") {
  Coordinator coordinator;
  coordinator.meets_unfenced(5, 100ms, 0ms);
  coordinator.loses(5);
  CHECK_FALSE(coordinator.schedule.next_deadline().has_value());
  coordinator.meets_unfenced(5, 0ms, 200ms);
  CHECK(coordinator.begin(200ms) == "read 5");
}

TEST_CASE("what an admission did to a node's last life does not count for its next") {
  Coordinator coordinator;
  coordinator.meets_unfenced(5, 0ms, 0ms);
  coordinator.begin(0ms);
  coordinator.loses(5);
  coordinator.meets_unfenced(5, 900ms, 1ms);
  coordinator.admits(2ms);
  CHECK(coordinator.next() == 901ms);
}

TEST_CASE("what a node says while it is admitted is later than what became of that") {
  Coordinator coordinator;
  coordinator.meets_unfenced(5, 0ms, 0ms);
  coordinator.begin(0ms);
  coordinator.meets_unfenced(5, 900ms, 1ms);
  coordinator.admits(2ms);
  CHECK(coordinator.next() == 901ms);
}

TEST_CASE("a node whose connection ended while it was admitted is not tried again") {
  Coordinator coordinator;
  coordinator.meets_unfenced(5, 0ms, 0ms);
  coordinator.begin(0ms);
  coordinator.loses(5);
  coordinator.fails(500ms);
  CHECK_FALSE(coordinator.schedule.next_deadline().has_value());
}

TEST_CASE("who said that its time is over is asked anew only after it did not take a floor") {
  Coordinator coordinator;
  coordinator.meets_unfenced(4, 0ms, 0ms);
  REQUIRE(coordinator.begin(0ms) == "read 4");
  coordinator.fails(500ms);  // nobody told a counter
  REQUIRE(coordinator.begin(coordinator.next()) == "read 4");
  for (const unsigned node : {4u, 5u}) coordinator.hears(node, {}, 1500ms);
  for (const unsigned node : {1u, 2u, 3u}) coordinator.hears(node, {.fenced = true}, 1500ms);
  coordinator.fails(1h);
  CHECK(coordinator.begin(coordinator.next()) == "look 4");
}

TEST_CASE("an admission is possible from the instant on at which a node is due") {
  Coordinator coordinator;
  CHECK_FALSE(coordinator.schedule.is_possible(at(0ms)));
  coordinator.meets_unfenced(4, 100ms, 0ms);
  const Duration due = coordinator.next();
  CHECK_FALSE(coordinator.schedule.is_possible(at(due - 1ns)));
  CHECK(coordinator.schedule.is_possible(at(due)));
}
