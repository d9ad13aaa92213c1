#include "coordinator/process/local_nodes.h"

#include "base/net/process/system_random.h"
#include "base/net/sockets/listener.h"
#include "tests/process/ports.h"
#include "tests/unit/coordinator/process/fixtures.h"

#include <csignal>
#include <map>

using namespace redlock;
using namespace redlock::coordinator;

namespace {

struct TestGroup : LocalNodes::User {
  TestGroup() {
    settings.count = 3;
    settings.first_port = reserve_ports(3);
    settings.folder = folder / "up";
    settings.node_program = REDIS_AS_NODE;
  }

  LocalNodes& make() { return *(group = std::make_unique<LocalNodes>(loop, settings, *this)); }

  // Runs until the group is ready or something failed, then stops it.
  void run_once() {
    REQUIRE(make().start());
    loop.run();
    REQUIRE(stopped == 1);
  }

  std::string node_file(int index, const std::string& name) const {
    return settings.folder + "/node-" + std::to_string(settings.first_port + index) + "/" + name;
  }

  void on_ready() override {
    ++ready;
    when_ready();
  }
  void on_node_failed(const NodeFailure& failure) override {
    failures.push_back(failure);
    group->stop();
  }
  void on_stopped(const std::vector<std::string>& sentences) override {
    ++stopped;
    unclean = sentences;
  }

  Folder folder;
  net::Loop loop;
  LocalNodesSettings settings;
  std::function<void()> when_ready = [this] { group->stop(); };
  std::unique_ptr<LocalNodes> group;
  int ready = 0;
  int stopped = 0;
  std::vector<NodeFailure> failures;
  std::vector<std::string> unclean;
};

}  // namespace

TEST_CASE("a new group is bootstrapped, answers, and stops cleanly") {
  TestGroup test;
  std::vector<pid_t> pids;
  test.when_ready = [&] {
    for (const auto& node : test.group->nodes()) pids.push_back(node->pid());
    test.group->stop();
  };
  test.run_once();
  CHECK(test.ready == 1);
  CHECK(test.failures.empty());
  CHECK(test.unclean.empty());
  CHECK(test.group->notes() ==
        std::vector<std::string>{"a new group in " + test.settings.folder + ": tokens begin at 1"});
  for (int i = 0; i < 3; ++i) {
    CHECK(std::filesystem::exists(test.node_file(i, "bootstrapped")));
    CHECK(std::filesystem::exists(test.node_file(i, "node.log")));
    struct stat folder {};
    REQUIRE(stat(test.node_file(i, ".").c_str(), &folder) == 0);
    CHECK((folder.st_mode & 0777) == 0700);
  }
  CHECK(pids.size() == 3);
  for (const pid_t pid : pids) CHECK_FALSE(group_is_alive(pid));
}

TEST_CASE("lock nodes make a group, stop cleanly, and are there again after a new start") {
  TestGroup test;
  test.settings.node_program = REDLOCK_NODE;
  for (int start = 1; start <= 3; ++start) {
    test.stopped = 0;
    test.run_once();
    for (const NodeFailure& failure : test.failures) FAIL(failure.text());
    CHECK(test.ready == start);
    CHECK(test.unclean.empty());
  }
}

TEST_CASE("the addresses are ready to be pasted") {
  TestGroup test;
  test.settings.first_port = reserve_ports(3);
  const auto port = [&](int i) { return std::to_string(test.settings.first_port + i); };
  REQUIRE(test.make().start());
  CHECK(test.group->addresses() == "redis://127.0.0.1:" + port(0) + ",redis://127.0.0.1:" +
                                       port(1) + ",redis://127.0.0.1:" + port(2));
}

TEST_CASE("a group that was there before is started without bootstrap") {
  TestGroup test;
  test.run_once();
  test.stopped = 0;
  test.run_once();  // a second bootstrap would be refused
  CHECK(test.group->notes().empty());
  CHECK(test.ready == 2);
  CHECK(test.failures.empty());
}

TEST_CASE("a node whose folder is missing in an older group is not bootstrapped (rule R1)") {
  TestGroup test;
  test.run_once();
  std::filesystem::remove_all(test.node_file(1, ""));
  test.stopped = 0;
  test.run_once();
  CHECK(test.failures.empty());
  CHECK(std::filesystem::exists(test.node_file(1, "node.log")));
  CHECK_FALSE(std::filesystem::exists(test.node_file(1, "bootstrapped")));
  REQUIRE(test.group->notes().size() == 1);
  CHECK_THAT(test.group->notes()[0],
             Catch::StartsWith("node-" + std::to_string(test.settings.first_port + 1) +
                               " has no folder in a group that exists"));
}

TEST_CASE("a port in use is named before anything is started or made") {
  TestGroup test;
  const auto port = static_cast<std::uint16_t>(test.settings.first_port + 2);
  const auto listener = net::Listener::listen(test.loop, {"127.0.0.1", port}, 1, [](auto) {});
  REQUIRE(listener);
  const Status started = test.make().start();
  REQUIRE_FALSE(started);
  CHECK(started.error().text.find("127.0.0.1:" + std::to_string(port)) != std::string::npos);
  CHECK(started.error().text.find("already in use") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(test.settings.folder));
}

TEST_CASE("what cannot work is refused with a sentence that says why") {
  TestGroup test;
  std::string expected;
  SECTION("an even number of nodes") {
    test.settings.count = 4;
    expected = "4 nodes: an odd number";
  }
  SECTION("ports that do not exist") {
    test.settings.first_port = 65'534;
    expected = "none above 65535";
  }
  SECTION("a program that is none") {
    test.settings.node_program = test.folder / "missing";
    expected = "missing is no program that can be executed";
  }
  SECTION("a program that is not in PATH") {
    test.settings.node_program = "no-such-program-here";
    expected = "no-such-program-here was not found in PATH";
  }
  SECTION("a folder that cannot be made") {
    test.settings.folder = test.folder.write("file", "") + "/up";
    expected = "up cannot be made";
  }
  const Status started = test.make().start();
  REQUIRE_FALSE(started);
  CHECK(started.error().text.find(expected) != std::string::npos);
}

TEST_CASE("a bootstrap that fails is told with the log's last lines and leaves nothing behind") {
  TestGroup test;
  test.settings.node_program =
      test.folder.write("broken", "#!/bin/sh\necho one; echo the disk is full >&2; exit 3\n", 0700);
  test.run_once();
  CHECK(test.ready == 0);
  REQUIRE_FALSE(test.failures.empty());
  const NodeFailure& failure = test.failures[0];
  CHECK(failure.what == "could not be bootstrapped: it exited with status 3");
  CHECK(failure.last_lines == std::vector<std::string>{"one", "the disk is full"});
  CHECK(failure.text().find("\n  the disk is full") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(test.node_file(0, "")));
}

TEST_CASE("a node that dies is named with its end and the last lines of its log") {
  TestGroup test;
  test.when_ready = [&] { kill(test.group->nodes()[1]->pid(), SIGKILL); };
  test.run_once();
  REQUIRE(test.failures.size() == 1);
  CHECK(test.failures[0].node == "node-" + std::to_string(test.settings.first_port + 1));
  CHECK(test.failures[0].what == "was ended by signal 9 (Killed)");
  CHECK_FALSE(test.failures[0].last_lines.empty());
  CHECK(test.unclean.empty());
}

TEST_CASE("a node that does not answer in time is told, and stopped with the others") {
  TestGroup test;
  test.settings.node_program =
      test.folder.write("mute", "#!/bin/sh\n[ \"$1\" = --bootstrap ] || exec sleep 1000\n", 0700);
  test.settings.ready_within = 200ms;
  test.run_once();
  REQUIRE_FALSE(test.failures.empty());
  CHECK(test.failures[0].what.find("does not answer INFO after") == 0);
}

TEST_CASE("a node that does not stop is killed in the end, and that is told") {
  TestGroup test;
  test.settings.count = 1;
  test.settings.node_program =
      test.folder.write("stubborn",
                        "#!/bin/sh\n[ \"$1\" = --bootstrap ] && exit\n"
                        "trap '' TERM; echo deaf; while :; do sleep 0.05; done\n",
                        0700);
  test.settings.ready_within = 300ms;
  test.settings.killed_after = 100ms;
  test.run_once();
  REQUIRE(test.unclean.size() == 1);
  CHECK(test.unclean[0].find("did not stop and was killed") != std::string::npos);
}

TEST_CASE("a stop during the start leaves no process and no half-made group") {
  TestGroup test;
  REQUIRE(test.make().start());
  test.group->stop();
  test.loop.run();
  CHECK(test.stopped == 1);
  CHECK(test.ready == 0);
  CHECK_FALSE(std::filesystem::exists(test.node_file(0, "")));
}
