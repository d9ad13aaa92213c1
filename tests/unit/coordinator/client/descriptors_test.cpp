// A client is begun where descriptors are short: whichever is missing, that is an answer, and
// nothing of the attempt stays.
#include "tests/unit/coordinator/client/five_nodes.h"
#include "tests/unit/coordinator/client/system_faults.h"
#include <redlock/client.h>

#include <catch2/catch.hpp>
#include <uv.h>

using namespace redlock;
using namespace std::chrono_literals;

namespace {

// Far more than a client of one node takes.
constexpr int kEnough = 60;

ClientOptions nobody() {
  return {.nodes = {"127.0.0.1:1"}, .node_timeout = 100ms};
}

void check_says_why(const Error& error) {
  CHECK(error.code == ErrorCode::system);
  CHECK_THAT(error.text, Catch::Contains("too many open files"));
}

// libuv takes some that stay, once in a process.
void warm_up() {
  REQUIRE(Client::start(nobody()));
}

}  // namespace

TEST_CASE("each descriptor of a client's start in turn is the one that is missing") {
  warm_up();
  const std::size_t before = open_descriptors();
  int failures = 0;
  for (int given = 0; given < kEnough; ++given) {
    const NoDescriptor none(given);
    const auto client = Client::start(nobody());
    if (!NoDescriptor::was_missing()) break;
    INFO("missing after " << given);
    if (client) continue;  // it was a connection's: the node is not reached
    ++failures;
    check_says_why(client.error());
    CHECK(open_descriptors() == before);
  }
  CHECK(failures > 16);  // those that are tried beforehand, a loop's and two timers'
  CHECK(Client::start(nobody()));
  CHECK(open_descriptors() == before);
}

TEST_CASE("on a caller's loop a client that has too few descriptors leaves nothing on it") {
  warm_up();
  const std::size_t before = open_descriptors();
  int failures = 0;
  for (int given = 0; given < kEnough; ++given) {
    uv_loop_t loop;
    REQUIRE(uv_loop_init(&loop) == 0);
    bool was_missing = false;
    {
      const NoDescriptor none(given);
      const auto client = Client::start_on(&loop, nobody());
      was_missing = NoDescriptor::was_missing();
      if (!client) {
        ++failures;
        check_says_why(client.error());
      }
    }
    uv_run(&loop, UV_RUN_DEFAULT);  // what it left to close
    REQUIRE(uv_loop_close(&loop) == 0);
    CHECK(open_descriptors() == before);
    if (!was_missing) break;
  }
  CHECK(failures > 12);
}

TEST_CASE("under a limit that rises step by step a client starts as soon as it can, and works") {
  warm_up();
  const std::size_t before = open_descriptors();
  bool has_started = false;
  for (std::size_t more = 0; more < kEnough; ++more) {
    const FewFiles few(more);
    auto client = Client::start(nobody());
    CHECK((client || !has_started));
    if (!client) check_says_why(client.error());
    has_started = has_started || client;
    if (client) CHECK(client->acquire("printer").error().code == ErrorCode::no_quorum);
  }
  CHECK(has_started);
  CHECK(open_descriptors() == before);
  const FiveNodes nodes;
  CHECK(nodes.client().acquire("printer"));
}
