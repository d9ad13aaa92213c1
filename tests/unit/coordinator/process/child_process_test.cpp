#include "tests/unit/coordinator/process/fixtures.h"

#include <csignal>

using namespace redlock;
using namespace redlock::coordinator;

TEST_CASE("a program's exit status is told, in full and as a shell has it") {
  const ExitStatus exited = TestProcess(shell("exit 7")).wait();
  CHECK(exited.code == 7);
  CHECK(exited.signal == 0);
  CHECK(exited.as_shell_status() == 7);
  const ExitStatus killed = TestProcess(shell("kill -USR2 $$")).wait();
  CHECK(killed.signal == SIGUSR2);
  CHECK(killed.as_shell_status() == 128 + SIGUSR2);
  CHECK_FALSE(killed.was_killed);
}

TEST_CASE("a program that does not exist is 127, one that cannot be executed 126") {
  Folder folder;
  TestProcess test;
  const auto failure_of = [&](const std::string& program) {
    ProcessCommand command;
    command.words = {program};
    const auto failure = test.process.start(command);
    REQUIRE(failure.has_value());
    CHECK(failure->text.find(program) == 0);
    CHECK_FALSE(test.process.is_running());
    return failure->exit_status;
  };
  CHECK(failure_of("no-such-program-here") == 127);
  CHECK(failure_of(folder / "missing") == 127);
  CHECK(failure_of(folder.write("text", "not a program")) == 126);
  CHECK(failure_of(folder / "") == 126);
  test.loop.run();  // nothing is left that could keep it
  CHECK(test.exits == 0);
}

TEST_CASE("the environment is ours, with what is added in the place of what we had") {
  Folder folder;
  setenv("REDLOCK_TEST_KEPT", "kept", 1);
  setenv("REDLOCK_NAME", "outer", 1);
  ProcessCommand command = shell(
      "echo $REDLOCK_TEST_KEPT $REDLOCK_NAME; env | grep -c REDLOCK_NAME=", {"REDLOCK_NAME=inner"});
  command.output_file = folder / "out";
  TestProcess(command).wait();
  CHECK(read_text(folder / "out") == "kept inner\n1\n");
}

TEST_CASE("an output file is appended to, and standard input is then empty") {
  Folder folder;
  folder.write("out", "before\n");
  ProcessCommand command = shell("cat; echo out; echo error >&2");
  command.output_file = folder / "out";
  CHECK(TestProcess(command).wait().code == 0);
  CHECK(read_text(folder / "out") == "before\nout\nerror\n");
}

TEST_CASE("the program leads a process group of its own") {
  Folder folder;
  Lines lines(folder);
  TestProcess test(shell("echo up > \"$SAY\"; sleep 1000", {lines.variable()}));
  lines.next();
  CHECK(getpgid(test.process.pid()) == test.process.pid());
  CHECK(test.process.pid() != getpgrp());
}

TEST_CASE("signals have their default action in the program, but those that are ignored") {
  const SignalIgnored hangup(SIGHUP);
  const SignalIgnored pipe(SIGPIPE);  // ours, as of every program that writes to sockets
  CHECK(signal_is_ignored(SIGHUP));
  CHECK_FALSE(signal_is_ignored(SIGUSR1));
  CHECK(TestProcess(shell("kill -HUP $$; exit 4")).wait().code == 4);
  CHECK(TestProcess(shell("kill -PIPE $$; exit 4")).wait().signal == SIGPIPE);
  CHECK(TestProcess(shell("kill -TERM $$; exit 4")).wait().signal == SIGTERM);
}

TEST_CASE("a signal is passed on to the whole group") {
  Folder folder;
  Lines lines(folder);
  const std::string member =
      "(trap 'echo member > \"$SAY\"; exit' USR1; echo up > \"$SAY\"; "
      "while :; do sleep 0.01; done)";
  TestProcess test(
      shell(member + " & trap 'wait; exit 9' USR1; echo up > \"$SAY\"; wait", {lines.variable()}));
  CHECK(lines.next() + lines.next() == "upup");
  test.process.pass_on(SIGUSR1);
  CHECK(lines.next() == "member");
  CHECK(test.wait().code == 9);
}

TEST_CASE("stop() ends a program by the signal it was asked to use") {
  TestProcess test(shell("sleep 1000"));
  test.process.stop(SIGUSR2, 1h);
  const ExitStatus status = test.wait();
  CHECK(status.signal == SIGUSR2);
  CHECK_FALSE(status.was_killed);
  CHECK_FALSE(test.process.is_running());
}

TEST_CASE("stop() kills a program that ignores the signal, and says so") {
  Folder folder;
  Lines lines(folder);
  TestProcess test(
      shell("trap '' TERM; echo up > \"$SAY\"; while :; do sleep 1; done", {lines.variable()}));
  lines.next();
  test.process.stop(SIGTERM, 20ms);
  const ExitStatus status = test.wait();
  CHECK(status.signal == SIGKILL);
  CHECK(status.was_killed);
  CHECK_FALSE(status.something_remains);
}

TEST_CASE("with no time left, not a line of a stopped program runs any more") {
  Folder folder;
  Lines lines(folder);
  TestProcess test(shell("trap 'echo late > " + (folder / "late") +
                             "' TERM CONT; echo up > \"$SAY\"; while :; do sleep 0.01; done",
                         {lines.variable()}));
  lines.next();
  kill(-test.process.pid(), SIGSTOP);
  test.process.stop(SIGTERM, 0ns);
  const ExitStatus status = test.wait();
  CHECK(status.signal == SIGKILL);
  CHECK(status.was_killed);
  CHECK_FALSE(std::filesystem::exists(folder / "late"));
}

TEST_CASE("asked twice to stop, the earlier time for SIGKILL counts") {
  Folder folder;
  Lines lines(folder);
  TestProcess test(
      shell("trap '' TERM; echo up > \"$SAY\"; while :; do sleep 1; done", {lines.variable()}));
  lines.next();
  test.process.stop(SIGTERM, 1h);
  test.process.stop(SIGTERM, 20ms);
  test.process.stop(SIGTERM, 1h);
  CHECK(test.wait().was_killed);
}

TEST_CASE("a stop is over when the last of the group is gone, not with the program") {
  Folder folder;
  Lines lines(folder);
  const auto group_with_member = [&](const std::string& on_term) {
    return shell("(trap '" + on_term +
                     "' TERM; echo up > \"$SAY\"; while :; do sleep 0.01; done) &"
                     " echo up > \"$SAY\"; wait",
                 {lines.variable()});
  };
  SECTION("a member that takes its time is waited for") {
    TestProcess test(group_with_member("sleep 0.1; echo done > \"$SAY\"; exit"));
    CHECK(lines.next() + lines.next() == "upup");
    const pid_t group = test.process.pid();
    test.process.stop(SIGTERM, 1h);
    const ExitStatus status = test.wait();
    CHECK(status.signal == SIGTERM);
    CHECK_FALSE(status.was_killed);
    CHECK(lines.next() == "done");
    CHECK_FALSE(group_is_alive(group));
  }
  SECTION("a member that ignores the signal is killed") {
    TestProcess test(group_with_member(""));
    CHECK(lines.next() + lines.next() == "upup");
    const pid_t group = test.process.pid();
    test.process.stop(SIGTERM, 20ms);
    const ExitStatus status = test.wait();
    CHECK(status.signal == SIGTERM);
    CHECK(status.was_killed);
    CHECK_FALSE(status.something_remains);
    CHECK_FALSE(group_is_alive(group));
  }
}

TEST_CASE("a program that ends by itself may leave others of its group behind") {
  TestProcess test(shell("sleep 1000 & exit 3"));
  const pid_t group = test.process.pid();
  CHECK(test.wait().code == 3);
  CHECK(group_is_alive(group));
  kill(-group, SIGKILL);
  CHECK(becomes_true([=] { return !group_is_alive(group); }));
}

TEST_CASE("a program that is stopped takes the signal that ends it") {
  Folder folder;
  Lines lines(folder);
  TestProcess test(shell("trap 'exit 8' TERM; echo up > \"$SAY\"; while :; do sleep 0.01; done",
                         {lines.variable()}));
  lines.next();
  kill(-test.process.pid(), SIGSTOP);
  test.process.stop(SIGTERM, 1h);
  CHECK(test.wait().code == 8);
}

TEST_CASE("the object's end is the whole group's end") {
  Folder folder;
  Lines lines(folder);
  pid_t group = 0;
  {
    TestProcess test(shell("sleep 1000 & echo up > \"$SAY\"; wait", {lines.variable()}));
    lines.next();
    group = test.process.pid();
  }
  CHECK(becomes_true([=] { return !group_is_alive(group); }));
}

TEST_CASE("a program may be started again when the one before has ended") {
  struct Again : TestProcess {
    void on_exit(const ExitStatus& how) override {
      TestProcess::on_exit(how);
      if (exits == 1) start(shell("exit 2"));
    }
  };
  Again test;
  test.start(shell("exit 1"));
  test.loop.run();
  CHECK(test.exits == 2);
  CHECK(test.status.code == 2);
}

TEST_CASE("several programs are told apart") {
  net::Loop loop;
  struct User : ChildProcess::User {
    void on_exit(const ExitStatus& status) override { code = status.code; }
    int code = -1;
  };
  User users[3];
  std::vector<std::unique_ptr<ChildProcess>> processes;
  for (int i = 0; i < 3; ++i) {
    processes.push_back(std::make_unique<ChildProcess>(loop, users[i]));
    CHECK_FALSE(processes.back()->start(shell("exit 4" + std::to_string(i))).has_value());
  }
  loop.run();
  for (int i = 0; i < 3; ++i) CHECK(users[i].code == 40 + i);
}
