#include "tests/support/blocking_client.h"
#include "tests/support/temporary_folder.h"
#include <redlock/embedded_node.h>

#include <chrono>
#include <csignal>
#include <mutex>
#include <sys/resource.h>
#include <thread>

#include <catch2/catch.hpp>

using namespace redlock;
using namespace std::chrono_literals;

namespace {

EmbeddedNode started(EmbeddedNodeOptions options = {}) {
  auto node = EmbeddedNode::start(std::move(options));
  INFO(node.error().text);
  REQUIRE(node);
  return std::move(node).value();
}

std::string refusal(EmbeddedNodeOptions options) {
  const auto node = EmbeddedNode::start(std::move(options));
  REQUIRE_FALSE(node);
  return node.error().text;
}

std::string ask(const EmbeddedNode& node, const std::vector<std::string>& words) {
  return BlockingClient(node.port()).ask(words);
}

std::string take_printer(const EmbeddedNode& node) {
  return ask(node, {"SET", "printer", "alice", "NX", "PX", "50000"});
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

// It asks libc for memory, for blocks too large to be kept, so that ThreadSanitizer, which keeps
// signals back while nothing of libc is called, lets the watchdog's through.
const std::vector<std::string> kEndlessScript = {
    "EVAL", "while true do local s = string.rep('x', 5000) end", "0"};

}  // namespace

TEST_CASE("an embedded node serves at a free port") {
  const EmbeddedNode node = started();
  CHECK(node.running());
  CHECK(node.address() == "redis://127.0.0.1:" + std::to_string(node.port()));
  BlockingClient client(node.port());
  CHECK(client.ask({"PING"}) == "+PONG");
  CHECK(client.ask({"SET", "printer", "alice", "NX", "PX", "10000"}) == "+OK");
  CHECK(client.ask({"GET", "printer"}) == "\"alice\"");
  CHECK(contains(client.ask({"CONFIG", "GET", "port"}), std::to_string(node.port())));
}

TEST_CASE("an embedded node serves at a unix socket, and not for TCP") {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/node.sock";
  const EmbeddedNode node = started({.unix_socket = path});
  CHECK(node.port() == 0);
  CHECK(node.address() == "unix://" + path);
  CHECK(BlockingClient(path).ask({"PING"}) == "+PONG");
}

TEST_CASE("an embedded node serves at the port that it is told, and frees it") {
  std::uint16_t port = 0;
  {
    const EmbeddedNode first = started();
    port = first.port();
    CHECK(contains(refusal({.port = port}), "cannot listen at 127.0.0.1:" + std::to_string(port)));
  }
  CHECK(started({.port = port}).port() == port);
}

TEST_CASE("each start of a node without a folder grants at once") {
  for (int run = 0; run < 3; ++run) {
    EmbeddedNode node = started();
    CHECK(take_printer(node) == "+OK");
    CHECK(contains(ask(node, {"INFO", "restart"}), "cause:bootstrapped"));
    CHECK(node.stop());
  }
}

TEST_CASE("nodes in one process have their own locks and settings") {
  const EmbeddedNode one = started({.settings = {{"max-ttl", "10s"}}});
  const EmbeddedNode other = started();
  CHECK(contains(take_printer(one), "max-ttl (10000 ms)"));
  CHECK(take_printer(other) == "+OK");
  CHECK(ask(one, {"GET", "printer"}) == "(nil)");
}

TEST_CASE("a script without an end in one node is ended there, and the other serves meanwhile") {
  const std::vector<std::pair<std::string, std::string>> limits = {
      {"busy-reply-threshold", "60s"},  // not suspended: it keeps its thread to itself
      {"script-time-limit", "300ms"}};
  const EmbeddedNode busy = started({.settings = limits});
  const EmbeddedNode also_busy = started({.settings = limits});
  const EmbeddedNode free = started();
  BlockingClient client(busy.port());
  BlockingClient other_client(also_busy.port());
  client.send(kEndlessScript);
  other_client.send(kEndlessScript);
  CHECK(take_printer(free) == "+OK");
  CHECK(contains(client.receive(), "script-time-limit"));
  CHECK(contains(other_client.receive(), "script-time-limit"));
  CHECK(take_printer(busy) == "+OK");
}

TEST_CASE("a script is suspended in an embedded node as in any") {
  const EmbeddedNode node = started({.settings = {{"busy-reply-threshold", "10ms"}}});
  BlockingClient client(node.port());
  client.send(kEndlessScript);
  std::string answer;
  for (int tries = 0; tries < 1000 && !answer.starts_with("-BUSY"); ++tries) {
    answer = ask(node, {"GET", "printer"});
  }
  CHECK(answer.starts_with("-BUSY"));
  CHECK(ask(node, {"SCRIPT", "KILL"}) == "+OK");
  CHECK(contains(client.receive(), "Script killed by user"));
}

TEST_CASE(
    "a clean stop keeps the locks in the folder, a crash loses them and the next start waits") {
  const TemporaryFolder parent;
  const EmbeddedNodeOptions options = {.folder = parent.path() + "/node", .bootstrap = true};
  EmbeddedNode node = started(options);
  CHECK(take_printer(node) == "+OK");
  CHECK(node.stop());
  node = started(options);
  CHECK(ask(node, {"GET", "printer"}) == "\"alice\"");
  node.crash();
  node = started(options);
  CHECK(ask(node, {"GET", "printer"}) == "(nil)");
  CHECK(take_printer(node).starts_with("-ERR recovering after a restart"));
}

TEST_CASE("without bootstrap a node in a new folder waits") {
  const TemporaryFolder parent;
  const EmbeddedNode node = started({.folder = parent.path() + "/node"});
  CHECK(take_printer(node).starts_with("-ERR recovering after a restart"));
}

TEST_CASE("the end of the object is a clean stop") {
  const TemporaryFolder folder;
  { CHECK(take_printer(started({.folder = folder.path(), .bootstrap = true})) == "+OK"); }
  CHECK(ask(started({.folder = folder.path()}), {"GET", "printer"}) == "\"alice\"");
}

TEST_CASE("a folder serves one node at a time, and the refusal names it") {
  const TemporaryFolder folder;
  const EmbeddedNode node = started({.folder = folder.path(), .bootstrap = true});
  for (const bool bootstrap : {false, true}) {
    const std::string text = refusal({.folder = folder.path(), .bootstrap = bootstrap});
    CHECK(
        contains(text, folder.path() + "/ledger is in use by process " + std::to_string(getpid())));
  }
  CHECK(ask(node, {"PING"}) == "+PONG");
}

TEST_CASE("a folder that cannot be had is told") {
  CHECK(contains(refusal({.folder = "/proc/none/node"}), "cannot make /proc/none/node"));
}

TEST_CASE("a snapshot that cannot be written is told, by each stop") {
  const TemporaryFolder parent;
  const std::string folder = parent.path() + "/node";
  EmbeddedNode node = started({.folder = folder, .bootstrap = true});
  std::filesystem::remove_all(folder);
  CHECK(contains(node.stop().error().text, folder + "/snapshot"));
  CHECK(contains(node.stop().error().text, folder + "/snapshot"));
}

TEST_CASE("wrong settings are told by name") {
  CHECK(contains(refusal({.settings = {{"max-ttl", "soon"}}}), "max-ttl: "));
  CHECK(refusal({.settings = {{"max-tll", "10s"}}}) ==
        "there is no setting 'max-tll'; did you mean 'max-ttl'?");
  CHECK(refusal({.settings = {{"PORT", "7001"}}}) ==
        "port is no setting of an embedded node: say it as EmbeddedNodeOptions::port");
  CHECK(contains(refusal({.settings = {{"pidfile", "/tmp/a"}}}), "a process of its own"));
  CHECK(contains(refusal({.unix_socket = "node.sock"}), "absolute"));
  CHECK(contains(refusal({.host = "nowhere"}), "cannot listen at nowhere:0"));
}

TEST_CASE("a stop ends the connections; another one, and a crash, are harmless") {
  EmbeddedNode node = started();
  BlockingClient client(node.port());
  CHECK(client.ask({"PING"}) == "+PONG");
  CHECK(node.stop());
  CHECK_FALSE(node.running());
  CHECK(client.ask({"PING"}) == "(closed)");
  CHECK_FALSE(BlockingClient(node.port()).is_connected());
  CHECK(node.stop());
  node.crash();
  CHECK(node.stop());
}

TEST_CASE("SHUTDOWN of a client stops the node, with its snapshot") {
  const TemporaryFolder folder;
  EmbeddedNode node = started({.folder = folder.path(), .bootstrap = true});
  CHECK(take_printer(node) == "+OK");
  CHECK(ask(node, {"SHUTDOWN"}) == "(closed)");
  for (int tries = 0; tries < 10'000 && node.running(); ++tries) std::this_thread::sleep_for(1ms);
  CHECK_FALSE(node.running());
  CHECK(ask(started({.folder = folder.path()}), {"GET", "printer"}) == "\"alice\"");
  CHECK(node.stop());
}

TEST_CASE("where it is known as stopped, its folder is free at once") {
  const TemporaryFolder folder;
  for (int run = 0; run < 20; ++run) {
    EmbeddedNode node = started({.folder = folder.path(), .bootstrap = true});
    BlockingClient(node.port()).send({"SHUTDOWN"});
    while (node.running()) std::this_thread::yield();
    started({.folder = folder.path()});
  }
}

TEST_CASE("the lines of the log come one by one, from the level on") {
  std::mutex mutex;
  std::vector<std::string> lines;
  const auto take = [&](std::string_view line) {
    const std::lock_guard lock(mutex);
    lines.emplace_back(line);
  };
  started({.settings = {{"save", "900 1"}}, .log = take});
  REQUIRE(lines.size() == 3);
  CHECK(contains(lines[0], "# save: "));
  CHECK(contains(lines[1], "This node keeps no folder"));
  CHECK(contains(lines[2], " listens at 127.0.0.1:"));
  lines.clear();
  started({.settings = {{"loglevel", "warning"}}, .log = take});
  CHECK(lines.empty());
}

TEST_CASE("an answer that nobody reads any more ends neither node nor process") {
  std::signal(SIGPIPE, SIG_DFL);
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/socket";
  const EmbeddedNode node = started({.unix_socket = path});
  BlockingClient deaf(path);
  deaf.stop_listening();
  CHECK(deaf.ask({"PING"}) == "(closed)");
  CHECK(BlockingClient(path).ask({"PING"}) == "+PONG");
}

TEST_CASE("the signals of the process are not the node's") {
  const EmbeddedNode node = started();
  sigset_t only;
  sigset_t before;
  sigemptyset(&only);
  sigaddset(&only, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &only, &before);
  kill(getpid(), SIGTERM);  // pending, as no thread takes it
  CHECK(ask(node, {"PING"}) == "+PONG");
  constexpr timespec kAtOnce{};
  CHECK(sigtimedwait(&only, nullptr, &kAtOnce) == SIGTERM);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TEST_CASE("a start without descriptors fails, and leaves the process alone") {
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  std::string text;
  for (rlim_t limit = 0; limit < 40; ++limit) {
    const rlimit tight{.rlim_cur = limit, .rlim_max = before.rlim_max};
    setrlimit(RLIMIT_NOFILE, &tight);
    const auto node = EmbeddedNode::start({});
    if (node) break;
    text = node.error().text;
  }
  setrlimit(RLIMIT_NOFILE, &before);
  CHECK(contains(text, "raise its limit (ulimit -n)"));
}
