// A group as a front door uses it, at real nodes.
#pragma once

#include "tests/support/roster_world.h"
#include "tests/unit/coordinator/quorum/letter_and_number.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

namespace redlock::coordinator {

using Client = NodeWorld::Client;

struct DoorWorld : RosterWorld {
  explicit DoorWorld(std::size_t nodes = 5) : RosterWorld(nodes) {}

  // A client of all nodes, or of those named, that is linked to them.
  Client& linked(std::vector<unsigned> numbers = {}) {
    Client& client = new_client(std::move(numbers));
    pass(20ms);
    return client;
  }
  ReadResult read(Client& client, ReadRequest request = {.name = "printer"}) {
    std::optional<ReadResult> result;
    client.group().read(std::move(request), now(),
                        [&](ReadResult got) { result = std::move(got); });
    REQUIRE(run_until([&] { return result.has_value(); }, 10s));
    return std::move(*result);
  }
  AcquireResult take(Client& client, AcquireRequest request) {
    std::optional<AcquireResult> result;
    client.group().acquire(std::move(request), now(),
                           [&](AcquireResult got) { result = std::move(got); });
    REQUIRE(run_until([&] { return result.has_value(); }, 10s));
    return std::move(*result);
  }
  // Whoever holds the printer at these nodes, for 10 s.
  std::string hold(std::vector<unsigned> numbers) {
    const AcquireResult got = take(linked(std::move(numbers)), {.name = "printer", .ttl = 10s});
    REQUIRE(is_acquired(got));
    return got.lock.claim->value;
  }
  ExtendResult extend(Client& client, const std::string& value, Duration ttl,
                      bool shortens = false) {
    std::optional<ExtendResult> result;
    client.group().extend({.name = "printer", .value = value, .ttl = ttl, .shortens = shortens},
                          now(), [&](ExtendResult got) { result = std::move(got); });
    REQUIRE(run_until([&] { return result.has_value(); }, 10s));
    return std::move(*result);
  }
  ExtendResult replace(Client& client, std::string value, std::string next, Duration ttl,
                       bool keeps_deadline = false, std::string name = "printer") {
    std::optional<ExtendResult> result;
    client.group().extend({.name = std::move(name),
                           .value = std::move(value),
                           .ttl = ttl,
                           .replacement = std::move(next),
                           .keeps_deadline = keeps_deadline},
                          now(), [&](ExtendResult got) { result = std::move(got); });
    REQUIRE(run_until([&] { return result.has_value(); }, 10s));
    return std::move(*result);
  }
  std::optional<WaitOutcome> wait(Client& client, Duration length) {
    std::optional<WaitOutcome> outcome;
    client.group().wait_for_free({.name = "printer", .wait = length}, now(),
                                 [&](WaitResult got) { outcome = got.outcome; });
    run_until([&] { return outcome.has_value(); }, length + 1s);
    return outcome;
  }
  const server::Lock* lock_at(unsigned number) {
    return node(number).locks().find("printer", now());
  }
  std::string value_at(unsigned number) {
    const server::Lock* lock = lock_at(number);
    return lock == nullptr ? "" : std::string(lock->value());
  }
  Duration left_at(unsigned number) {
    const server::Lock* lock = lock_at(number);
    return lock == nullptr ? 0ns : lock->deadline() - now();
  }
};

inline AcquireRequest printer(Duration ttl = 10s) {
  return {.name = "printer", .ttl = ttl};
}

// Values of a letter, which is the holder's, and a number.
inline AcquireRequest named(std::string value, std::string name = "printer") {
  return {.name = std::move(name), .ttl = 10s, .make_value = [value = std::move(value)] {
            return value;
          }};
}

inline ReadRequest values() {
  return {.name = "printer", .held_by = letter_and_number};
}

}  // namespace redlock::coordinator
