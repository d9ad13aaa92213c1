#include "tests/unit/coordinator/process/fixtures.h"

#include <algorithm>
#include <csignal>

using namespace redlock;
using namespace redlock::coordinator;

namespace {

ProcessCommand runner(const std::vector<std::string>& options, const std::string& script,
                      const Lines& lines) {
  ProcessCommand command;
  command.words = {JOB_RUNNER};
  command.words.insert(command.words.end(), options.begin(), options.end());
  command.words.insert(command.words.end(), {"sh", "-c", script});
  command.environment = {lines.variable()};
  return command;
}

// What a test has to leave behind also when it fails: nothing.
struct GroupKilledInTheEnd {
  ~GroupKilledInTheEnd() { kill(-group, SIGKILL); }
  pid_t group;
};

std::vector<pid_t> children_of(pid_t parent) {
  const std::string pid = std::to_string(parent);
  std::istringstream text(read_text("/proc/" + pid + "/task/" + pid + "/children"));
  std::vector<pid_t> children;
  for (pid_t child = 0; text >> child;) children.push_back(child);
  return children;
}

}  // namespace

TEST_CASE("a killed parent takes the command's whole group with it, and leaves no guard") {
  Folder folder;
  Lines lines(folder);
  TestProcess parent(
      runner({}, "(trap '' TERM HUP; sleep 1000) & echo $$ > \"$SAY\"; wait", lines));
  const pid_t group = std::stoi(lines.next());
  const GroupKilledInTheEnd end{group};
  const std::vector<pid_t> children = children_of(parent.process.pid());
  REQUIRE(children.size() == 1);  // the guard, which is the command's parent
  CHECK(children_of(children[0]) == std::vector{group});
  REQUIRE(group_is_alive(group));
  kill(parent.process.pid(), SIGKILL);
  CHECK(parent.wait().signal == SIGKILL);
  CHECK(becomes_true([=] { return !group_is_alive(group); }));
  for (const pid_t child : children) {
    CHECK(becomes_true([=] { return !group_is_alive(child); }));
  }
}

TEST_CASE("a stopped group does not outlive its parent either") {
  Folder folder;
  Lines lines(folder);
  TestProcess parent(runner({}, "sleep 1000 & echo $$ > \"$SAY\"; wait", lines));
  const pid_t group = std::stoi(lines.next());
  const GroupKilledInTheEnd end{group};
  kill(-group, SIGSTOP);
  kill(parent.process.pid(), SIGKILL);
  parent.wait();
  CHECK(becomes_true([=] { return !group_is_alive(group); }));
}

TEST_CASE("the guard does not end before its parent, whatever the job is sent") {
  Folder folder;
  Lines lines(folder);
  TestProcess parent(
      runner({}, "trap '' TERM; echo $$ > \"$SAY\"; while :; do sleep 1; done", lines));
  const pid_t group = std::stoi(lines.next());
  const GroupKilledInTheEnd end{group};
  parent.process.pass_on(SIGTERM);  // to the runner's group, which passes it on
  std::vector<pid_t> children = children_of(parent.process.pid());
  std::erase(children, group);
  REQUIRE(children.size() == 1);
  kill(children[0], SIGTERM);
  kill(children[0], SIGHUP);
  parent.process.pass_on(SIGKILL);
  parent.wait();
  CHECK(becomes_true([=] { return !group_is_alive(group); }));
}

TEST_CASE("a server is told to terminate when its parent dies") {
  Folder folder;
  Lines lines(folder);
  TestProcess parent(runner({"--service"},
                            "trap 'echo told > \"$SAY\"; exit' TERM; echo $$ > \"$SAY\"; "
                            "while :; do sleep 0.01; done",
                            lines));
  const pid_t group = std::stoi(lines.next());
  const GroupKilledInTheEnd end{group};
  kill(parent.process.pid(), SIGKILL);
  parent.wait();
  CHECK(lines.next() == "told");
  CHECK(becomes_true([=] { return !group_is_alive(group); }));
}
