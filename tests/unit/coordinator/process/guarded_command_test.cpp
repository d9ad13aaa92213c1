#include "coordinator/process/guarded_command.h"

#include "coordinator/process/process_tree.h"
#include "tests/unit/coordinator/process/fixtures.h"

#include <csignal>
#include <functional>

using namespace redlock;
using namespace redlock::coordinator;

namespace {

Instant now() {
  return net::read_clock(net::ClockKind::boottime);
}

bool is_alive(pid_t pid) {
  ProcessEntry entry;
  return read_process(pid, entry) && entry.is_alive();
}

// The guard of the one GuardedCommand that this process has.
pid_t guard_of_ours() {
  ProcessListing listing;
  while (const pid_t pid = listing.next()) {
    ProcessEntry entry;
    const bool is_guard = read_process(pid, entry) && entry.parent == getpid() &&
                          std::string_view(entry.name) == "lock-guard";
    if (is_guard && entry.is_alive()) return pid;
  }
  return 0;
}

class TestCommand : public GuardedCommand::User {
 public:
  TestCommand() = default;
  TestCommand(const ProcessCommand& what, const GuardedCommand::Terms& terms) {
    start(what, terms);
  }

  void start(const ProcessCommand& what, const GuardedCommand::Terms& terms) {
    const auto failed = command.start(what, terms);
    INFO((failed ? failed->text : ""));
    REQUIRE_FALSE(failed.has_value());
  }

  GuardedCommand::End wait() {
    loop.run();
    REQUIRE(exits == 1);
    return end;
  }

  // Runs the loop until a line has come.
  std::string hear(Lines& lines) {
    std::string line;
    net::Readable heard(loop, lines.descriptor(), [&] {
      line = lines.next();
      loop.stop();
    });
    loop.run();
    return line;
  }

  bool may_start() override { return when_it_may_start(); }
  void on_start_failed(const StartFailure& its_failure) override { failure = its_failure; }
  void on_overdue() override { ++overdue; }
  void on_exit(const GuardedCommand::End& how) override {
    end = how;
    ++exits;
  }

  net::Loop loop;
  GuardedCommand command{loop, *this};
  std::function<bool()> when_it_may_start = [] { return true; };
  std::optional<StartFailure> failure;
  GuardedCommand::End end;
  int overdue = 0;
  int exits = 0;
};

// Says the pids of what it starts: a child with a session of its own, and a daemon. Both ignore
// TERM, as the program itself does.
ProcessCommand with_leavers(const Lines& lines,
                            const std::string& in_the_end = "wait; sleep 1000") {
  return shell(
      "trap '' TERM; "
      "setsid sh -c 'echo $$ > \"$SAY\"; while :; do sleep 1; done' & "
      "(setsid sh -c 'sh -c \"echo \\$\\$ > \\\"\\$SAY\\\"; while :; do sleep 1; done\" &' &) ; " +
          in_the_end,
      {lines.variable()});
}

// What a test has to leave behind also when it fails: nothing.
struct KilledInTheEnd {
  ~KilledInTheEnd() {
    for (const pid_t pid : pids) kill(pid, SIGKILL);
  }
  bool any_alive() const { return std::any_of(pids.begin(), pids.end(), is_alive); }
  std::vector<pid_t> pids;
};

}  // namespace

TEST_CASE("a guarded command's exit status is told, in full and as a shell has it") {
  CHECK(TestCommand(shell("exit 7"), {}).wait().status.as_shell_status() == 7);
  const ExitStatus killed = TestCommand(shell("kill -USR2 $$"), {}).wait().status;
  CHECK(killed.signal == SIGUSR2);
  CHECK(killed.as_shell_status() == 128 + SIGUSR2);
}

TEST_CASE("a guarded command that does not exist is 127, one that cannot be executed 126") {
  Folder folder;
  const auto failure_of = [&](const std::string& program) {
    ProcessCommand command;
    command.words = {program};
    TestCommand test(command, {});
    test.loop.run();
    REQUIRE(test.failure.has_value());
    CHECK(test.exits == 0);
    CHECK(test.failure->text.find(program) == 0);
    return test.failure->exit_status;
  };
  CHECK(failure_of("no-such-program-here") == 127);
  CHECK(failure_of(folder.write("text", "not a program")) == 126);
  CHECK(guard_of_ours() == 0);
}

TEST_CASE("a command starts only when its user says so, and never after the instant (H4)") {
  Folder folder;
  const ProcessCommand touch = shell("echo > " + (folder / "ran"));
  TestCommand test;
  SECTION("the user says no") {
    test.when_it_may_start = [&] {
      test.command.stop(0ns);
      return false;
    };
    test.start(touch, {});
    test.wait();
    CHECK(test.overdue == 0);
  }
  SECTION("the instant passes between the user's look and the command's") {
    test.when_it_may_start = [&] {
      test.command.keep_until(now() - 1ns);
      return true;
    };
    test.start(touch, {.kill_after = 1h});
    test.wait();
    CHECK(test.overdue == 1);
  }
  CHECK_FALSE(std::filesystem::exists(folder / "ran"));
}

TEST_CASE("a stop ends what left the group as well: sessions of their own, and daemons (H3)") {
  Folder folder;
  Lines lines(folder);
  TestCommand test(with_leavers(lines), {});
  KilledInTheEnd leavers;
  for (int i = 0; i < 2; ++i) leavers.pids.push_back(std::stoi(test.hear(lines)));
  CHECK(leavers.any_alive());
  test.command.stop(20ms);
  const GuardedCommand::End end = test.wait();
  CHECK(end.status.was_killed);
  CHECK_FALSE(end.status.something_remains);
  CHECK(end.left_behind == 0);
  CHECK_FALSE(leavers.any_alive());
}

TEST_CASE("the signal of a stop reaches those that left the group, once") {
  Folder folder;
  Lines lines(folder);
  TestCommand test(shell("setsid sh -c 'trap \"echo told > $SAY\" TERM; echo up > \"$SAY\"; "
                         "while :; do sleep 0.01; done' & trap : TERM; wait; wait; sleep 1000",
                         {lines.variable()}),
                   {});
  CHECK(test.hear(lines) == "up");
  test.command.stop(200ms);
  CHECK(test.hear(lines) == "told");
  test.command.stop(200ms);
  test.wait();
  CHECK_FALSE(lines.has_more());
}

TEST_CASE("what a command leaves behind at its own end lives on, and is named") {
  Folder folder;
  Lines lines(folder);
  TestCommand test(with_leavers(lines, "read line < " + (folder / "go") + "; exit 3"), {});
  REQUIRE(mkfifo((folder / "go").c_str(), 0600) == 0);
  KilledInTheEnd leavers;
  for (int i = 0; i < 2; ++i) leavers.pids.push_back(std::stoi(test.hear(lines)));
  folder.write("go", "\n");
  const GuardedCommand::End end = test.wait();
  CHECK(end.status.code == 3);
  CHECK(std::count(leavers.pids.begin(), leavers.pids.end(), end.left_behind) == 1);
  CHECK(end.left_name == "sh");
  for (const pid_t pid : leavers.pids) CHECK(is_alive(pid));
  CHECK(guard_of_ours() == 0);
}

TEST_CASE("with wait_for_all the end comes when all has ended, with the command's own status") {
  Folder folder;
  TestCommand test(
      shell("(setsid sh -c 'sh -c \"sleep 0.2; echo > " + (folder / "done") + "\" &' &); exit 3"),
      {.wait_for_all = true});
  const GuardedCommand::End end = test.wait();
  CHECK(end.status.code == 3);
  CHECK(end.left_behind == 0);
  CHECK(std::filesystem::exists(folder / "done"));
}

TEST_CASE("with wait_for_all signals reach what was left behind, and so does a stop") {
  Folder folder;
  Lines lines(folder);
  // It says so when the command has ended: until then signals are the command's.
  TestCommand test(shell("COMMAND=$$ setsid sh -c 'trap \"echo told > $SAY\" USR1; "
                         "while kill -0 $COMMAND; do sleep 0.01; done; echo up > \"$SAY\"; "
                         "while :; do sleep 0.01; done' 2>/dev/null & exit 3",
                         {lines.variable()}),
                   {.wait_for_all = true});
  CHECK(test.hear(lines) == "up");
  test.command.pass_on(SIGUSR1);
  CHECK(test.hear(lines) == "told");
  test.command.stop(1h);
  CHECK(test.wait().status.code == 3);
}

TEST_CASE("when the instant passes the guard ends all of it, though the loop does not run (H1)") {
  Folder folder;
  Lines lines(folder);
  TestCommand test(with_leavers(lines), {.stop_at = now() + 1h, .kill_after = 50ms});
  KilledInTheEnd all;
  for (int i = 0; i < 2; ++i) all.pids.push_back(std::stoi(test.hear(lines)));
  all.pids.push_back(test.command.pid());
  const Instant stop_at = now() + 100ms;
  test.command.keep_until(now() + 50ms);
  test.command.keep_until(stop_at);
  test.command.pass_on(SIGCONT);  // rings, so that the guard looks at the instant again
  std::this_thread::sleep_for(75ms);
  CHECK(all.any_alive());
  CHECK(becomes_true([&] { return !all.any_alive(); }));
  CHECK(now() < stop_at + 1s);
  CHECK(test.overdue == 0);
  const GuardedCommand::End end = test.wait();
  CHECK(test.overdue == 1);
  CHECK(end.status.signal == SIGKILL);
}

TEST_CASE("an instant that moves on in time ends nothing") {
  TestCommand test(shell("sleep 0.3; exit 4"), {.stop_at = now() + 100ms});
  std::optional<net::Timer> extend;
  extend.emplace(test.loop, net::ClockKind::boottime, [&] {
    test.command.keep_until(now() + 100ms);
    extend->set(now() + 30ms);
  });
  extend->keep_loop_alive(false);
  extend->set(now());
  CHECK(test.wait().status.code == 4);
  CHECK(test.overdue == 0);
}

TEST_CASE("a killed guard is the end of all that descends from the command") {
  Folder folder;
  Lines lines(folder);
  TestCommand test(with_leavers(lines), {});
  KilledInTheEnd all;
  for (int i = 0; i < 2; ++i) all.pids.push_back(std::stoi(test.hear(lines)));
  all.pids.push_back(test.command.pid());
  // A child of ours that is none of the command's is left alone.
  TestProcess stranger(shell("sleep 1000"));
  kill(guard_of_ours(), SIGKILL);
  const GuardedCommand::End end = test.wait();
  CHECK(end.guard_was_killed);
  CHECK(end.status.signal == SIGKILL);
  CHECK_FALSE(all.any_alive());
}

TEST_CASE("what a child of before leaves behind is none of the command's (H3)") {
  Folder folder;
  Lines lines(folder);
  TestProcess stranger(shell("sleep 1000 & echo $! > \"$SAY\"; sleep 0.3", {lines.variable()}));
  TestCommand test;
  KilledInTheEnd orphan;
  orphan.pids.push_back(std::stoi(lines.next()));
  test.start(with_leavers(lines), {});
  KilledInTheEnd all;
  for (int i = 0; i < 2; ++i) all.pids.push_back(std::stoi(test.hear(lines)));
  CHECK(stranger.wait().code == 0);  // its child is ours
  test.command.keep_until(now() + 1h);
  kill(guard_of_ours(), SIGKILL);
  CHECK(test.wait().guard_was_killed);
  CHECK_FALSE(all.any_alive());
  CHECK(orphan.any_alive());
}

TEST_CASE("a guard that somebody stops is continued") {
  Folder folder;
  Lines lines(folder);
  TestCommand test(with_leavers(lines), {});
  KilledInTheEnd all;
  for (int i = 0; i < 2; ++i) all.pids.push_back(std::stoi(test.hear(lines)));
  kill(guard_of_ours(), SIGSTOP);
  test.command.stop(10ms);
  test.wait();
  CHECK_FALSE(all.any_alive());
}

TEST_CASE("the object's end is the end of all that descends from the command") {
  Folder folder;
  Lines lines(folder);
  KilledInTheEnd all;
  {
    TestCommand test(with_leavers(lines), {});
    for (int i = 0; i < 2; ++i) all.pids.push_back(std::stoi(test.hear(lines)));
  }
  CHECK(becomes_true([&] { return !all.any_alive(); }));
}
