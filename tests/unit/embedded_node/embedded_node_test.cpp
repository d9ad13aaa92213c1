#include <redlock/embedded_node.h>

#include <algorithm>
#include <arpa/inet.h>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>

#include <catch2/catch.hpp>

using namespace redlock;
using namespace std::chrono_literals;

namespace {

// A connection of a client that speaks inline commands and reads a line at a time.
class Talk {
 public:
  explicit Talk(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connect_to(AF_INET, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  }
  explicit Talk(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    connect_to(AF_UNIX, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  }
  ~Talk() { close(socket_); }
  Talk(const Talk&) = delete;
  Talk& operator=(const Talk&) = delete;

  // The first line of the answer; "" when the node has closed the connection.
  std::string operator()(const std::string& command) {
    const std::string line = command + "\r\n";
    if (send(socket_, line.data(), line.size(), MSG_NOSIGNAL) < 0) return "";
    std::string answer;
    char byte = 0;
    while (recv(socket_, &byte, 1, 0) == 1 && byte != '\n') answer += byte;
    if (answer.ends_with('\r')) answer.pop_back();
    return answer;
  }

 private:
  void connect_to(int family, const sockaddr* address, socklen_t size) {
    socket_ = socket(family, SOCK_STREAM, 0);
    REQUIRE(connect(socket_, address, size) == 0);
  }

  int socket_ = -1;
};

EmbeddedNode started(EmbeddedNodeOptions options = {}) {
  auto node = EmbeddedNode::start(std::move(options));
  INFO(node.error());
  REQUIRE(node);
  return std::move(node).value();
}

class Folder {
 public:
  Folder() {
    std::string path = "/tmp/redlock-test-XXXXXX";
    REQUIRE(mkdtemp(path.data()) != nullptr);
    path_ = path;
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

constexpr const char* kSet = "SET printer alice NX PX 30000";
constexpr const char* kRecovering = "-ERR recovering after a restart";

std::size_t entries(const char* folder) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

std::size_t resident_kb() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) return std::stoul(line.substr(6));
  }
  return 0;
}

}  // namespace

TEST_CASE("a node inside the program listens at a free port and locks") {
  EmbeddedNode node = started();
  CHECK(node.port() != 0);
  CHECK(node.address() == "redis://127.0.0.1:" + std::to_string(node.port()));
  CHECK(node.running());
  Talk talk(node.port());
  CHECK(talk("PING") == "+PONG");
  CHECK(talk(kSet) == "+OK");
  CHECK(talk(kSet) == "$-1");
  CHECK(talk("CONFIG GET port") == "*2");
}

TEST_CASE("it listens at a unix socket when told to") {
  const Folder folder;
  EmbeddedNode node = started({.unix_socket = folder / "node.sock"});
  CHECK(node.port() == 0);
  CHECK(node.address() == "unix://" + (folder / "node.sock"));
  CHECK(Talk(folder / "node.sock")(kSet) == "+OK");
}

TEST_CASE("several do not know each other") {
  EmbeddedNode one = started();
  EmbeddedNode other = started({.settings = {{"max-ttl", "10s"}}});
  CHECK(Talk(one.port())(kSet) == "+OK");
  CHECK(Talk(other.port())(kSet).starts_with("-ERR"));  // longer than its max-ttl
  CHECK(Talk(other.port())("SET printer bob NX PX 5000") == "+OK");
}

// TSan hands a signal on at the next call into its runtime, and an endless script makes none.
#if !defined(__SANITIZE_THREAD__)
TEST_CASE("a script that never ends holds up its own node alone, and is ended") {
  EmbeddedNode stuck =
      started({.settings = {{"busy-reply-threshold", "20ms"}, {"script-time-limit", "300ms"}}});
  EmbeddedNode other = started();
  std::string ended;
  std::thread caller([&] { ended = Talk(stuck.port())("EVAL \"while true do end\" 0"); });
  Talk bystander(stuck.port());
  std::string answer;
  do {
    CHECK(Talk(other.port())("PING") == "+PONG");
    answer = bystander("GET printer");
  } while (answer == "$-1");
  CHECK(answer.starts_with("-BUSY"));
  caller.join();
  CHECK(ended.starts_with("-ERR"));
  CHECK(bystander("GET printer") == "$-1");
}
#endif

TEST_CASE("a clean stop keeps the locks in the folder") {
  const Folder folder;
  EmbeddedNode node = started({.folder = folder / "state", .bootstrap = true});
  CHECK(Talk(node.port())(kSet) == "+OK");
  CHECK(node.stop());
  CHECK_FALSE(node.running());
  CHECK(node.stop());  // harmless
  EmbeddedNode again = started({.folder = folder / "state", .bootstrap = true});
  CHECK(Talk(again.port())("GET printer") == "$5");
}

TEST_CASE("a crash keeps nothing, and the next start recovers") {
  const Folder folder;
  EmbeddedNode node = started({.folder = folder / "state", .bootstrap = true});
  Talk talk(node.port());
  CHECK(talk(kSet) == "+OK");
  node.crash();
  CHECK_FALSE(node.running());
  CHECK(talk("PING").empty());
  EmbeddedNode again = started({.folder = folder / "state"});
  CHECK(Talk(again.port())("GET printer") == "$-1");
  CHECK(Talk(again.port())(kSet).starts_with(kRecovering));
}

TEST_CASE("a folder that was not bootstrapped makes the node wait") {
  const Folder folder;
  EmbeddedNode node = started({.folder = folder / "state"});
  CHECK(Talk(node.port())(kSet).starts_with(kRecovering));
}

TEST_CASE("without a folder each start is a new installation's") {
  for (int i = 0; i < 3; ++i) {
    EmbeddedNode node = started();
    CHECK(Talk(node.port())(kSet) == "+OK");
    node.crash();
  }
}

TEST_CASE("what cannot be started says why") {
  const auto problem = [](EmbeddedNodeOptions options) {
    return EmbeddedNode::start(std::move(options)).error();
  };
  CHECK_THAT(problem({.settings = {{"max-ttl", "soon"}}}), Catch::Contains("max-ttl"));
  CHECK_THAT(problem({.settings = {{"no-such", "1"}}}), Catch::Contains("no-such"));
  CHECK_THAT(problem({.settings = {{"port", "1"}}}),
             Catch::Contains("no setting of a node inside"));
  CHECK_THAT(problem({.bootstrap = true}), Catch::Contains("without a folder"));
  const EmbeddedNode first = started();
  CHECK_THAT(problem({.port = first.port()}), Catch::Contains("address already in use"));
  const Folder folder;
  const EmbeddedNode second = started({.folder = folder / "state"});
  CHECK_THAT(problem({.folder = folder / "state"}), Catch::Contains("is in use by"));
}

TEST_CASE("SHUTDOWN from a client ends it") {
  EmbeddedNode node = started();
  CHECK(Talk(node.port())("SHUTDOWN").empty());
  CHECK(node.stop());
  CHECK_FALSE(node.running());
}

TEST_CASE("its log comes line by line") {
  std::mutex mutex;
  std::vector<std::string> lines;
  {
    EmbeddedNode node = started({.log = [&](std::string_view line) {
      const std::lock_guard lock(mutex);
      lines.emplace_back(line);
    }});
  }
  REQUIRE(lines.size() >= 2);
  CHECK_THAT(lines[0], Catch::Contains("keeps no folder"));
  CHECK_THAT(lines[1], Catch::Contains("listens at 127.0.0.1:"));
}

TEST_CASE("a thousand nodes, started and stopped, leave nothing behind") {
  const Folder folder;
  const auto start_and_stop = [&](int count) {
    for (int i = 0; i < count; ++i) {
      EmbeddedNodeOptions options;
      if (i % 10 == 1) options.unix_socket = folder / "node.sock";
      if (i % 50 == 2) {
        options.folder = folder / "state";
        options.bootstrap = true;
      }
      EmbeddedNode node = started(std::move(options));
      if (i % 2 == 0) node.crash();
    }
  };
  start_and_stop(50);  // what is made once and kept
  const std::size_t threads = entries("/proc/self/task");
  const std::size_t descriptors = entries("/proc/self/fd");
  const std::size_t memory_kb = resident_kb();
  start_and_stop(950);
  CHECK(entries("/proc/self/task") == threads);
  CHECK(entries("/proc/self/fd") == descriptors);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  CHECK(resident_kb() < memory_kb + 2048);
#else
  static_cast<void>(memory_kb);
#endif
}
