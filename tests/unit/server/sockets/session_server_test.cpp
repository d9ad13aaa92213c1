// Clients of a node whose answers have their time (rule D2), over a unix socket.
#include "server/sockets/session_server.h"

#include "base/net/turn/clock.h"
#include "server/commands/families.h"
#include "server/sockets/node_host.h"
#include "tests/support/blocking_client.h"
#include "tests/support/node_fixture.h"
#include "tests/support/temporary_folder.h"

#include <atomic>
#include <thread>

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::server;

namespace {

Instant monotonic_now() {
  return net::read_clock(net::ClockKind::monotonic);
}

class TimedHost final : public NodeHost {
 public:
  using NodeHost::NodeHost;

  std::optional<Instant> send_by(const protocol::Session&) const override {
    if (!answers_have_time) return std::nullopt;
    return net::read_clock(net::ClockKind::boottime) + time_left.load();
  }
  void note_sent(protocol::Session& session, std::size_t bytes) override {
    NodeHost::note_sent(session, bytes);
    sent = bytes;
  }

  std::atomic<bool> answers_have_time = true;
  std::atomic<Duration> time_left = Duration(10s);
  std::atomic<std::size_t> sent = 0;
};

// Serves on a thread until a client says SHUTDOWN.
class Serving {
 public:
  Serving()
      : listeners_(Listeners::open(loop_, {{{path, 0}}}, settings_, nullptr).value()),
        node_(all_families(), settings_, {}, {[] { return ProcessFacts{}; }, log_}),
        host(node_, monotonic_now),
        server_(loop_, host, *listeners_, {.stopped = [this] { loop_.stop(); }}) {
    node_.begin_run(net::read_now());
    thread_ = std::thread([this] { loop_.run(); });
  }
  ~Serving() {
    host.answers_have_time = false;
    BlockingClient(path).send({"SHUTDOWN", "NOSAVE"});
    thread_.join();
  }

 private:
  const TemporaryFolder folder_;
  net::Loop loop_;
  Settings settings_;
  CollectedLog log_;

 public:
  const std::string path = folder_.path() + "/socket";

 private:
  std::unique_ptr<Listeners> listeners_;
  Node node_;

 public:
  TimedHost host;

 private:
  SessionServer server_;
  std::thread thread_;
};

// More than the buffers of a unix socket hold, less than the session keeps requests back for.
std::vector<std::string> large_question(BlockingClient& client) {
  client.ask({"SET", "long", std::string(60'000, 'x'), "PX", "60000"});
  std::vector<std::string> question = {"MGET"};
  question.insert(question.end(), 12, "long");
  return question;
}

}  // namespace

TEST_CASE("an answer that has its time goes out within it") {
  Serving serving;
  BlockingClient client(serving.path);
  CHECK(client.ask({"SET", "printer", "alice", "NX", "PX", "10000"}) == "+OK");
  while (serving.host.sent != 5) std::this_thread::yield();  // told behind the write
  CHECK(client.ask({"GET", "printer"}) == "\"alice\"");
}

TEST_CASE("an answer whose time is over is never sent, and its connection ends") {
  Serving serving;
  BlockingClient client(serving.path);
  serving.host.time_left = Duration(-1);
  CHECK(client.ask({"SET", "printer", "alice", "NX", "PX", "10000"}) == "(closed)");
  CHECK(serving.host.sent == 0);
}

TEST_CASE("what the kernel does not take of an answer that has its time is never sent") {
  Serving serving;
  BlockingClient client(serving.path);
  serving.host.answers_have_time = false;
  const auto question = large_question(client);
  REQUIRE(client.ask(question).starts_with("["));  // the rest waits, and comes

  serving.host.answers_have_time = true;
  serving.host.sent = 0;
  CHECK(client.ask(question) == "(closed)");
  CHECK(serving.host.sent > 0);
  CHECK(serving.host.sent < 12 * 60'000);
}

TEST_CASE("what a client sends behind a request that waits stays with the kernel") {
  Serving serving;
  serving.host.answers_have_time = false;
  BlockingClient holder(serving.path);
  BlockingClient client(serving.path);
  CHECK(holder.ask({"SET", "printer", "alice", "NX", "PX", "60000"}) == "+OK");
  client.send({"LOCK.WAIT", "printer", "60000"});
  CHECK(client.send_at_most(8 * 1024 * 1024) < 2 * 1024 * 1024);
  CHECK(holder.ask({"DEL", "printer"}) == "(integer) 1");
  CHECK(client.receive() == "(integer) 1");
}

TEST_CASE("an answer that has its time does not stand behind one that waits for its reader") {
  Serving serving;
  BlockingClient client(serving.path);
  serving.host.answers_have_time = false;
  const auto question = large_question(client);
  client.send(question);
  while (serving.host.sent < 12 * 60'000) std::this_thread::yield();
  serving.host.answers_have_time = true;
  client.send({"SET", "printer", "alice", "NX", "PX", "10000"});
  while (serving.host.sent != 0) std::this_thread::yield();
  CHECK(client.receive() == "(closed)");
}
