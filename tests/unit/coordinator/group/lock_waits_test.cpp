// Who is woken, when, and what is sent for it (rule Q7).
#include "coordinator/group/lock_waits.h"

#include "coordinator/group/retry.h"
#include "tests/unit/coordinator/quorum/machine_fixture.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include <fmt/format.h>

using namespace redlock;
using namespace redlock::coordinator;

namespace {

using Ticket = LockWaits::Ticket;

constexpr Duration kNodeTimeout = 500ms;

// Five nodes, numbered from 1; operations have small ids; all wait for the printer until 60 s.
struct World {
  LockWaits waits{5, kNodeTimeout};
  Duration now = 0ms;
  std::map<NodeIndex, WaitNumber> numbers;  // what the last order to a node is answered by

  World() {
    for (const unsigned node : {1u, 2u, 3u, 4u, 5u}) link(node, true);
  }

  void link(unsigned node, bool can_push) { waits.on_link(node - 1, can_push, at(now)); }
  Ticket wait(unsigned operation, Ticket ticket = 0, Duration until = 60s) {
    return waits.wait("printer", ticket, {operation}, at(until), at(now));
  }
  // What is to be sent: "arm 1 2 3 for 10000" or "cancel 4 5".
  std::string orders() {
    std::string text;
    for (const LockWaits::Order& order : waits.take_orders()) {
      CHECK(order.claim->name == "printer");
      const std::string what = order.timeout > 0ns ? "arm" : "cancel";
      if (text.find(what) == std::string::npos) text += (text.empty() ? "" : "; ") + what;
      text += fmt::format(" {}", order.node + 1);
      numbers[order.node] = order.number;
      timeout = order.timeout;
      shown[order.node] = order.ticket;
    }
    return text;
  }
  void answer(std::initializer_list<unsigned> nodes, AnswerKind kind = AnswerKind::yes) {
    for (const unsigned node : nodes) {
      waits.on_answer(node - 1, numbers[node - 1], {.kind = kind}, at(now));
    }
  }
  void push(std::initializer_list<unsigned> nodes, int is_free = 1,
            std::string_view name = "printer") {
    for (const unsigned node : nodes) {
      protocol::Reply message = protocol::Reply::push({});
      message.add(protocol::Reply::bulk_view("lock.free"))
          .add(protocol::Reply::bulk_view(name))
          .add(protocol::Reply::integer(is_free));
      waits.on_push(node - 1, message, at(now));
    }
  }
  // The operations that have to look again, each once.
  std::string changed() {
    std::set<unsigned> ids;
    for (const OperationId id : waits.take_changed()) ids.insert(id.slot);
    return fmt::format("{}", fmt::join(ids, " "));
  }
  bool covered() const { return waits.is_covered("printer"); }
  bool is_turn(Ticket ticket) const { return waits.is_turn("printer", ticket); }
  void pass(Duration length) {
    now += length;
    for (auto next = waits.next_deadline(); next && *next <= at(now);
         next = waits.next_deadline()) {
      waits.on_time(at(now));
    }
  }
  // All nodes armed for operation 1; nothing else to tell.
  Ticket armed() {
    const Ticket ticket = wait(1);
    CHECK(orders() == "arm 1 2 3 4 5");
    answer({1, 2, 3, 4, 5});
    changed();
    return ticket;
  }

  // The nodes that are named denied the attempt of who shows this ticket.
  Ticket denied(unsigned operation, std::initializer_list<unsigned> nodes, std::uint64_t shows,
                Ticket ticket = 0) {
    FailedAttempt attempt{.denied = {}, .shown = WaitTicket{shows, 0}};
    for (const unsigned node : nodes) attempt.denied.set(node - 1);
    return waits.wait("printer", ticket, {operation}, at(60s), at(now), attempt);
  }
  void refuse_words(std::initializer_list<unsigned> nodes) {
    for (const unsigned node : nodes) {
      waits.on_answer(node - 1, numbers[node - 1],
                      {.kind = AnswerKind::error, .is_unknown_form = true}, at(now));
    }
  }

  Duration timeout{};                                    // of the last order
  std::map<NodeIndex, std::optional<WaitTicket>> shown;  // by the last order to a node
};

}  // namespace

TEST_CASE("the first that waits arms every node, and need not poll from then on") {
  World world;
  const Ticket alice = world.wait(1);
  CHECK(world.orders() == "arm 1 2 3 4 5");
  CHECK(world.timeout == kWakeMax);
  CHECK(world.covered());
  CHECK(world.changed() == "1");
  world.answer({1, 2, 3, 4, 5});
  CHECK(world.covered());
  CHECK_FALSE(world.is_turn(alice));
}

TEST_CASE("it is a waiter's turn when a quorum said that the lock is free") {
  World world;
  const Ticket alice = world.armed();
  world.push({1, 4});
  CHECK(world.changed().empty());
  CHECK_FALSE(world.is_turn(alice));
  world.push({5});
  CHECK(world.changed() == "1");
  CHECK(world.is_turn(alice));
}

TEST_CASE("several that wait for one lock share its wakes, and the first of them tries") {
  World world;
  const Ticket alice = world.armed();
  const Ticket bob = world.wait(2);
  CHECK(world.orders().empty());
  world.changed();
  world.push({1, 2, 3});
  CHECK(world.changed() == "1");
  CHECK_FALSE(world.is_turn(bob));

  world.waits.attempt("printer", alice);
  world.push({4, 5});
  CHECK(world.covered());                              // Bob does not poll while Alice tries
  world.waits.leave("printer", alice, at(world.now));  // she has it
  CHECK(world.orders() == "arm 1 2 3 4 5");            // for Bob
  world.answer({1, 2, 3, 4, 5});
  CHECK_FALSE(world.is_turn(bob));
  world.changed();
  world.push({1, 2, 3});
  CHECK(world.changed() == "2");
  CHECK(world.is_turn(bob));
}

TEST_CASE("whoever tried in vain keeps its ticket, and the nodes that told are armed anew") {
  World world;
  const Ticket alice = world.armed();
  const Ticket bob = world.wait(2);
  world.push({1, 2, 3});
  world.waits.attempt("printer", alice);
  CHECK(world.wait(1, alice) == alice);
  CHECK(world.orders() == "arm 1 2 3");  // 4 and 5 still will tell
  world.answer({1, 2, 3});
  world.push({1, 2, 3});
  CHECK(world.is_turn(alice));
  CHECK_FALSE(world.is_turn(bob));
}

TEST_CASE("a waiter that leaves when it has its turn gives it to the next") {
  World world;
  const Ticket alice = world.armed();
  const Ticket bob = world.wait(2);
  world.push({1, 2, 3});
  world.changed();
  world.waits.leave("printer", alice, at(world.now));
  CHECK(world.changed() == "2");
  CHECK(world.is_turn(bob));
}

TEST_CASE("the last to leave cancels the wakes that may still come") {
  World world;
  const Ticket alice = world.armed();
  const Ticket bob = world.wait(2);
  world.push({1, 2});
  world.waits.leave("printer", alice, at(world.now));
  CHECK(world.orders().empty());
  world.waits.leave("printer", bob, at(world.now));
  CHECK(world.orders() == "cancel 1 2 3 4 5");  // 1 and 2 have called it: they call the next
  world.push({3});                              // it was under way
  CHECK_FALSE(world.waits.has_news());
  CHECK_FALSE(world.covered());
}

TEST_CASE("a free node's push may be handed in before the OK that came with it") {
  World world;
  const Ticket alice = world.wait(1);
  world.orders();
  world.push({1, 2, 3});
  CHECK(world.is_turn(alice));
  world.answer({1, 2, 3});
  CHECK(world.is_turn(alice));
}

TEST_CASE("a wake that runs out is armed anew while its caller waits, never for longer than that") {
  World world;
  world.wait(1, 0, 12s);
  world.orders();
  world.answer({1, 2, 3, 4, 5});
  world.pass(kWakeMax);
  world.push({1, 2, 3, 4, 5}, 0);
  CHECK(world.orders() == "arm 1 2 3 4 5");
  CHECK(world.timeout == 2s);
  world.answer({1, 2, 3, 4, 5});
  world.pass(2s);
  world.push({1, 2, 3, 4, 5}, 0);
  CHECK(world.orders().empty());
}

TEST_CASE("a node that does not keep its deadline is armed anew, and then not relied on") {
  World world;
  world.armed();
  world.pass(kWakeMax + kNodeTimeout);  // not a word from anybody
  CHECK(world.orders() == "arm 1 2 3 4 5");
  CHECK(world.covered());
  world.pass(kNodeTimeout);
  CHECK_FALSE(world.covered());
  CHECK(world.changed() == "1");
  world.pass(kRearmDelay);
  CHECK(world.orders() == "arm 1 2 3 4 5");
  CHECK_FALSE(world.covered());
  world.answer({1, 2, 3});
  CHECK(world.covered());
}

TEST_CASE("a node that refuses is asked again later, and its late OK counts") {
  World world;
  world.wait(1);
  world.orders();
  world.answer({1, 2, 3}, AnswerKind::recovering);
  world.answer({4, 5});
  CHECK_FALSE(world.covered());
  world.pass(kRearmDelay);
  CHECK(world.orders() == "arm 1 2 3");
  world.answer({1});
  CHECK(world.covered());
  world.pass(kNodeTimeout);
  CHECK(world.orders().empty());
  world.answer({2});
  world.link(1, false);
  CHECK(world.covered());  // 2, 4 and 5 hold it
}

TEST_CASE("a link that breaks falls out, and is armed when it is back") {
  World world;
  world.armed();
  world.link(1, false);
  world.link(2, false);
  CHECK(world.covered());  // three nodes hold the lock: no attempt can succeed
  world.link(3, false);
  CHECK_FALSE(world.covered());
  CHECK(world.changed() == "1");
  CHECK(world.orders().empty());
  world.link(2, true);
  CHECK(world.orders() == "arm 2");
  CHECK(world.covered());
  CHECK(world.changed() == "1");
}

TEST_CASE("while nodes are missing that could make a quorum with the free ones, nobody relies") {
  World world;
  world.armed();
  world.link(5, false);
  CHECK(world.covered());
  world.push({1});
  CHECK(world.covered());  // 2, 3 and 4 hold it
  world.push({2});
  CHECK_FALSE(world.covered());  // 5 may be free: then 1, 2 and 5 are a quorum
  world.push({3});
  CHECK(world.covered());
}

TEST_CASE("plain Redis servers are not armed; with a quorum of them everybody polls") {
  World world;
  for (const unsigned node : {1u, 2u, 3u}) world.link(node, false);
  world.wait(1);
  CHECK(world.orders() == "arm 4 5");
  world.answer({4, 5});
  CHECK_FALSE(world.covered());
}

TEST_CASE("what a node pushes of other things means nothing") {
  World world;
  world.armed();
  world.push({1, 2, 3}, 1, "scanner");
  protocol::Reply invalidate = protocol::Reply::push({});
  invalidate.add(protocol::Reply::bulk_view("invalidate"));
  world.waits.on_push(3, invalidate, at(world.now));
  CHECK_FALSE(world.waits.has_news());
}

TEST_CASE("two locks that are waited for have nothing to do with each other") {
  World world;
  const Ticket alice = world.armed();
  const Ticket bob = world.waits.wait("scanner", 0, {2}, at(60s), at(0ms));
  CHECK(world.waits.take_orders().size() == 5);
  world.push({1, 2, 3}, 1, "scanner");
  CHECK(world.waits.is_turn("scanner", bob));
  CHECK_FALSE(world.is_turn(alice));
}

TEST_CASE("a single node wakes as well") {
  LockWaits waits(1, kNodeTimeout);
  waits.on_link(0, true, at(0ms));
  const Ticket alice = waits.wait("printer", 0, {1}, kNever, at(0ms));
  const auto orders = waits.take_orders();
  REQUIRE(orders.size() == 1);
  waits.on_answer(0, orders[0].number, {.kind = AnswerKind::yes}, at(0ms));
  CHECK(waits.is_covered("printer"));
  protocol::Reply message = protocol::Reply::push({});
  message.add(protocol::Reply::bulk_view("lock.free"))
      .add(protocol::Reply::bulk_view("printer"))
      .add(protocol::Reply::integer(1));
  waits.on_push(0, message, at(1ms));
  CHECK(waits.is_turn("printer", alice));
}

// Each gets the lock in its turn. One that looked at the whole line for each of them would see five
// thousand million waiters.
TEST_CASE("a waiter in a line of a hundred thousand costs what it costs in a short one") {
  constexpr unsigned kWaiters = 100'000;
  World world;
  const auto arm = [&] {
    for (const LockWaits::Order& order : world.waits.take_orders()) {
      if (order.timeout == 0ns) continue;
      world.waits.on_answer(order.node, order.number, {.kind = AnswerKind::yes}, at(world.now));
    }
  };
  std::vector<Ticket> tickets;
  for (unsigned id = 1; id <= kWaiters; ++id) {
    tickets.push_back(world.wait(id));
    arm();
  }
  std::size_t turns = 0;
  for (const Ticket ticket : tickets) {
    world.push({1, 2, 3});
    if (world.is_turn(ticket)) ++turns;
    world.waits.attempt("printer", ticket);
    world.waits.leave("printer", ticket, at(world.now));
    arm();
  }
  CHECK(turns == kWaiters);
  CHECK(world.waits.waiters_seen() < 10);
}

TEST_CASE("a line arms its nodes for its most patient waiter, whoever left or came again") {
  World world;
  world.wait(1, 0, 3s);
  CHECK(world.orders() == "arm 1 2 3 4 5");
  CHECK(world.timeout == 3s);
  const Ticket patient = world.wait(2, 0, 5s);
  const Ticket hasty = world.wait(3, 0, 4s);
  world.link(1, false);
  world.link(1, true);
  CHECK(world.orders() == "arm 1");
  CHECK(world.timeout == 5s);
  world.waits.leave("printer", patient, at(world.now));
  world.link(1, false);
  world.link(1, true);
  CHECK(world.orders() == "arm 1");
  CHECK(world.timeout == 4s);
  world.wait(3, hasty, 1s);  // of another mind
  world.link(1, false);
  world.link(1, true);
  CHECK(world.orders() == "arm 1");
  CHECK(world.timeout == 3s);
}

TEST_CASE("the queue shows each node the ticket of its first, and the next one's after that") {
  World world;
  const Ticket alice = world.denied(1, {1, 2, 3}, 10);
  world.denied(2, {1, 2, 3}, 20);
  CHECK(world.orders() == "arm 1 2 3 4 5");
  for (NodeIndex node = 0; node < 5; ++node) CHECK(world.shown[node] == WaitTicket{10, 0});
  world.answer({1, 2, 3, 4, 5});
  world.waits.attempt("printer", alice);
  world.push({1, 2, 3, 4, 5});
  world.waits.leave("printer", alice, at(world.now), NodeSet(0b111));
  CHECK(world.orders() == "arm 1 2 3 4 5");
  CHECK(world.shown[0] == WaitTicket{20, 0});
}

TEST_CASE("one node that denied the last attempt is enough, one that did not is not") {
  World world;
  const Ticket alice = world.denied(1, {3, 4, 5}, 10);
  world.orders();
  world.answer({1, 2, 3, 4, 5});
  world.push({1});
  world.push({2});  // free all the time
  CHECK_FALSE(world.is_turn(alice));
  world.link(3, false);
  world.push({4});
  CHECK(world.is_turn(alice));  // 1, 2 and 4
  world.link(1, false);
  world.link(2, false);
  CHECK_FALSE(world.is_turn(alice));
  CHECK(world.covered());  // for a moment
  world.pass(kWakeWindow);
  CHECK(world.is_turn(alice));
  CHECK(world.waits.is_called_alone("printer"));
  CHECK(world.covered());
}

TEST_CASE("whom two waiters of other processes overlap with call nobody again and again") {
  World world;
  const Ticket alice = world.denied(1, {3, 4, 5}, 10);
  world.orders();
  world.answer({1, 3, 4, 5});
  world.push({2});
  for (int round = 0; round < 3; ++round) {
    world.push({4});
    CHECK_FALSE(world.is_turn(alice));
    world.pass(kWakeWindow);
    REQUIRE(world.is_turn(alice));
    world.waits.attempt("printer", alice);
    world.denied(1, {3, 4, 5}, 10, alice);  // another has it, but for 1 and 2
    CHECK(world.orders() == "arm 2 4");
    world.push({2});  // at once
    world.pass(kWakeWindow);
    CHECK_FALSE(world.is_turn(alice));
    world.answer({4});
  }
}

TEST_CASE("who gets the lock leaves the next one that waits with the nodes that granted it") {
  World world;
  const Ticket alice = world.denied(1, {1, 2, 3}, 10);
  const Ticket bob = world.denied(2, {1, 2, 3}, 20);
  world.orders();
  world.push({1});
  world.waits.attempt("printer", alice);
  world.waits.leave("printer", alice, at(world.now), NodeSet(0b11100));
  world.orders();
  world.push({1});  // it was never there
  world.pass(kWakeWindow);
  CHECK_FALSE(world.is_turn(bob));
  world.push({5});
  world.pass(kWakeWindow);
  CHECK(world.is_turn(bob));
}

TEST_CASE("what a node denied is forgotten with the link to it") {
  World world;
  const Ticket alice = world.denied(1, {1, 2, 3}, 10);
  world.orders();
  world.link(1, false);
  world.link(1, true);
  CHECK(world.orders() == "arm 1");
  world.push({1});  // it was restarted, and lost the lock
  world.pass(kWakeWindow);
  CHECK_FALSE(world.is_turn(alice));
  world.push({4, 5});
  CHECK(world.is_turn(alice));  // a quorum
}

TEST_CASE("a node that does not know tickets is asked without, and calls nobody by itself") {
  World world;
  const Ticket alice = world.denied(1, {1, 2, 3}, 10);
  world.orders();
  world.refuse_words({1, 2});
  CHECK(world.orders() == "arm 1 2");
  CHECK_FALSE(world.shown[0]);
  CHECK(world.covered());
  world.answer({1, 2, 3, 4, 5});
  world.push({1, 2});  // it tells everybody
  world.pass(kWakeWindow);
  CHECK_FALSE(world.is_turn(alice));
  world.push({4});
  CHECK(world.is_turn(alice));
  CHECK_FALSE(world.waits.is_called_alone("printer"));
  world.link(1, false);  // a newer version comes back
  world.link(1, true);
  CHECK(world.orders() == "arm 1");
  CHECK(world.shown[0] == WaitTicket{10, 0});
}

TEST_CASE("what a node called free is not believed for longer than a wake lasts") {
  World world;
  world.denied(1, {3, 4, 5}, 10);
  world.orders();
  world.answer({2, 3, 4, 5});
  world.push({1});
  world.pass(kWakeMax);
  CHECK(world.orders() == "arm 1");
}
