// A subcommand that is interrupted before its connections are made begins nothing, also not when
// its client ends: by then what it would begin with is gone.
#include "coordinator/commands/session.h"

#include "base/net/turn/clock.h"
#include "base/net/turn/timer.h"

#include <arpa/inet.h>
#include <csignal>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace redlock;
using namespace redlock::coordinator;

namespace {

// Whoever connects waits for a greeting that never comes.
class HungNode {
 public:
  HungNode() : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    REQUIRE(bind(socket_, generic, size) == 0);
    REQUIRE(listen(socket_, 8) == 0);
    REQUIRE(getsockname(socket_, generic, &size) == 0);
    port_ = ntohs(address.sin_port);
  }
  ~HungNode() { close(socket_); }
  HungNode(const HungNode&) = delete;
  HungNode& operator=(const HungNode&) = delete;

  std::string address() const { return fmt::format("redis://127.0.0.1:{}", port_); }

 private:
  const int socket_;
  int port_ = 0;
};

}  // namespace

TEST_CASE("a session that is over before it is ready begins nothing") {
  std::signal(SIGPIPE, SIG_IGN);
  const bool waits_for_undos = GENERATE(false, true);
  const HungNode node;
  Options options;
  options.client.nodes = {node.address()};
  options.client.node_timeout = std::chrono::seconds(60);
  int begun = 0;
  {
    auto session = CommandSession::begin(options, CommandSession::Admits::no);
    REQUIRE(session);
    CommandSession& it = **session;
    net::Timer interrupt(it.loop(), net::ClockKind::monotonic, [&] {
      if (waits_for_undos) return it.finish_when_undone(143);
      it.finish(143);
    });
    interrupt.set(net::read_clock(net::ClockKind::monotonic));
    CHECK(it.run([&begun] { ++begun; }) == 143);
  }
  CHECK(begun == 0);
}
