// Whether a command that found no quorum may have been done: what a front door says (rule D7).
#include "coordinator/front_door/records/record.h"
#include "tests/support/door_world.h"

#include <algorithm>
#include <span>
#include <string>

#include <catch2/catch.hpp>

using namespace redlock;
using coordinator::next_record;
using coordinator::RandomBytes;

// Three nodes stand still from some moment of the second extension on: two have it, and the others
// keep the later deadline of the first.
TEST_CASE("an extension that met a later deadline may have been done, and is told so (rule D7)") {
  int moved_untold = 0;
  int moved = 0;
  for (int step = 0; step < 100; ++step) {
    INFO("step " << step);
    DoorWorld world(5, 2);
    DoorClient alice = world.connect(1);
    DoorClient bob = world.connect(2);
    CHECK(alice("SET printer alice NX PX 10000") == "+OK");
    for (const unsigned node : {4U, 5U}) world.nodes().refuse(node);
    CHECK(bob("PEXPIRE printer 30000") == "(integer) 1");
    for (const unsigned node : {4U, 5U}) world.nodes().refuse(node, false);
    world.nodes().pass(2s);
    const auto deadline = [&] {
      return world.nodes().node(5).locks().find("printer", world.nodes().now())->deadline();
    };
    const Instant before = deadline();
    alice.send("PEXPIRE printer 15000");
    world.nodes().pass(step * 100us);
    for (const unsigned node : {1U, 2U, 3U}) world.nodes().hang(node);
    const std::string told = alice.receive();
    INFO(told);
    if (told == "(integer) 1") continue;
    CHECK(told.starts_with("-ERR NOQUORUM 2 of 5 nodes answered"));
    if (deadline() == before) continue;
    ++moved;
    if (told.find("it may have been done") == std::string::npos) ++moved_untold;
  }
  CHECK(moved > 0);
  CHECK(moved_untold == 0);
}

// Another door reaches three nodes before it. They say so, and stand still from some moment on.
TEST_CASE("a replacement that some nodes took may have been done, and is told so (rule D7)") {
  int partly = 0;
  for (int step = 0; step < 100; ++step) {
    INFO("step " << step);
    DoorWorld world;
    DoorClient alice = world.connect();
    CHECK(alice("SET printer first NX PX 60000") == "+OK");
    NodeWorld::Client& other = world.nodes().new_client({1, 2, 3});
    world.nodes().pass(20ms);
    const auto value_at = [&](unsigned node) {
      return std::string(
          world.nodes().node(node).locks().find("printer", world.nodes().now())->value());
    };
    const std::string before = value_at(1);
    const RandomBytes zeros = [](std::span<unsigned char> bytes) {
      std::fill(bytes.begin(), bytes.end(), static_cast<unsigned char>(0));
    };
    alice.send("SET printer alice PX 60000");
    world.nodes().pass(step / 10 * 250us);
    other.group().extend(
        {.name = "printer",
         .value = before,
         .ttl = 60s,
         .replacement = next_record(before, server::LockKind::text, "other", zeros)},
        world.nodes().now(), [](const auto&) {});
    world.nodes().pass(2ms + step % 10 * 250us);
    for (const unsigned node : {1U, 2U, 3U}) world.nodes().hang(node);
    const std::string told = alice.receive();
    INFO(told);
    if (told == "+OK" || value_at(1).ends_with("alice") || !value_at(5).ends_with("alice"))
      continue;
    ++partly;
    CHECK(told.find("it may have been done") != std::string::npos);
  }
  CHECK(partly > 0);
}
