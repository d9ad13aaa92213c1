// Names are asked of a resolver that hangs.
#include "base/net/sockets/name_lookup.h"

#include "base/net/sockets/listener.h"
#include "coordinator/client/link_socket.h"
#include "tests/unit/coordinator/client/comes.h"
#include "tests/unit/coordinator/client/system_faults.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <netinet/in.h>
#include <optional>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <catch2/catch.hpp>
#include <uv.h>

using namespace redlock;
using namespace redlock::net;
using namespace std::chrono_literals;

namespace {

// What is not to come has time enough to.
void let_come() {
  std::this_thread::sleep_for(20ms);
}

std::uint16_t port_of(const NameLookup::Addresses& addresses) {
  return ntohs(reinterpret_cast<const sockaddr_in&>(addresses.at(0)).sin_port);
}

}  // namespace

TEST_CASE("a name is asked for once at a time, whoever wants it") {
  std::optional<HungNames> hung(std::in_place);
  give_name("hung-once", {"127.0.0.1"});
  Loop loop;
  Loop other_loop;
  std::vector<std::uint16_t> ports;
  const auto note = [&](const Result<NameLookup::Addresses>& found) {
    ports.push_back(port_of(found.value()));
  };
  std::optional<NameLookup> first(std::in_place, loop, Address{"hung-once", 1}, note);
  const NameLookup second(loop, {"hung-once", 2}, note);
  CHECK(comes([] { return lookups_of("hung-once") == 1; }));
  first.reset();                                       // the answer is still to come
  first.emplace(loop, Address{"hung-once", 6}, note);  // another in its place
  const NameLookup third(loop, {"hung-once", 3}, note);
  const NameLookup fourth(other_loop, {"hung-once", 4}, note);
  let_come();
  CHECK(lookups_of("hung-once") == 1);
  hung.reset();
  loop.run();
  other_loop.run();
  std::sort(ports.begin(), ports.end());
  CHECK(ports == std::vector<std::uint16_t>{2, 3, 4, 6});

  const NameLookup anew(loop, {"hung-once", 5}, note);  // that one is over
  loop.run();
  CHECK(lookups_of("hung-once") == 2);
  CHECK(ports.back() == 5);
}

TEST_CASE("a link that dials a hung name again waits for the answer that is still to come") {
  struct Nobody final : coordinator::LinkSocket::User {
    void on_connected(coordinator::NodeIndex) override {}
    void on_bytes(coordinator::NodeIndex, std::string_view) override {}
    void on_end(coordinator::NodeIndex, std::string_view reason) override { ended = reason; }
    std::string ended;
  } nobody;
  std::optional<HungNames> hung(std::in_place);
  Loop loop;
  coordinator::LinkSocket link(loop, {{"hung-redial", 1}}, nullptr, 0, nobody);
  for (int i = 0; i < 100; ++i) link.dial();
  CHECK(comes([] { return lookups_of("hung-redial") == 1; }));
  let_come();
  CHECK(lookups_of("hung-redial") == 1);
  hung.reset();
  loop.run();
  CHECK(nobody.ended == "Name or service not known");
}

TEST_CASE("after a dial in vain the next begins with a name's next address, else with the first") {
  struct Reached final : coordinator::LinkSocket::User {
    void on_connected(coordinator::NodeIndex) override { ++times; }
    void on_bytes(coordinator::NodeIndex, std::string_view) override {}
    void on_end(coordinator::NodeIndex, std::string_view) override {}
    int times = 0;
  } reached;
  Loop loop;
  std::vector<std::string> dialled;
  std::vector<std::unique_ptr<Stream>> accepted;  // kept open
  const auto on_accept = [&](std::unique_ptr<Stream> stream) {
    dialled.push_back(stream->local().host);
    accepted.push_back(std::move(stream));
  };
  const auto first = Listener::listen(loop, {"127.0.0.1", 0}, 8, on_accept).value();
  const std::uint16_t port = first->local().port;
  const auto second = Listener::listen(loop, {"127.0.0.2", port}, 8, on_accept).value();
  give_name("two-addresses", {"127.0.0.1", "127.0.0.2"});
  coordinator::LinkSocket link(loop, {{"two-addresses", port}}, nullptr, 0, reached);
  const auto dial = [&] {
    const std::size_t before = dialled.size();
    const int reached_before = reached.times;
    link.dial();
    while (dialled.size() == before || reached.times == reached_before) {
      uv_run(loop.raw(), UV_RUN_ONCE);
    }
    return dialled.back();
  };
  link.dial();  // in vain: given up at once
  CHECK(dial() == "127.0.0.2");
  CHECK(dial() == "127.0.0.1");
  CHECK(dial() == "127.0.0.1");
}

TEST_CASE("a lookup that no thread can be had for leaves its name to the next") {
  Loop loop;
  std::string told;
  const auto note = [&](const Result<NameLookup::Addresses>& found) { told = found.error().text; };
  {
    const NoThreads none;
    const NameLookup lookup(loop, {"nobody-at-all", 1}, note);
    CHECK(told.empty());
    loop.run();
  }
  CHECK_THAT(told, Catch::Contains("no thread"));
  const NameLookup next(loop, {"nobody-at-all", 1}, note);
  loop.run();
  CHECK_THAT(told, Catch::Contains("not known"));
}

#if !defined(__SANITIZE_THREAD__)  // it ends a forked child that begins a thread
TEST_CASE("a forked child does not wait for its parent's lookups") {
  const HungNames hung;
  Loop loop;
  const NameLookup lookup(loop, {"hung-fork", 1}, [](const auto&) {});
  REQUIRE(comes([] { return lookups_of("hung-fork") == 1; }));
  const pid_t child = fork();
  if (child == 0) {
    Loop own;
    const NameLookup again(own, {"hung-fork", 1}, [](const auto&) {});
    _exit(comes([] { return lookups_of("hung-fork") == 2; }) ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}
#endif
