// The keys of a terminal, as a person presses them: a real bash on a pseudo terminal runs
// job_runner, which runs a command.
#include "tests/unit/coordinator/process/fixtures.h"

#include <csignal>
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>

using namespace redlock;
using namespace redlock::coordinator;

namespace {

constexpr const char* kCtrlC = "\x03";
constexpr const char* kCtrlD = "\x04";
constexpr const char* kCtrlZ = "\x1a";

void kill_session(pid_t session) {
  kill(session, SIGKILL);  // first, so that it starts no more
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const pid_t pid = std::atoi(entry.path().filename().c_str());
    if (pid > 0 && getsid(pid) == session) kill(pid, SIGKILL);
  }
}

class Terminal {
 public:
  Terminal() {
    shell_ = forkpty(&terminal_, nullptr, nullptr, nullptr);
    REQUIRE(shell_ >= 0);
    if (shell_ == 0) {
      // Whoever runs the tests in the background may have had these ignored.
      for (const int number : {SIGINT, SIGQUIT, SIGHUP, SIGTSTP, SIGTERM}) {
        std::signal(number, SIG_DFL);
      }
      setenv("PS1", "$ ", 1);
      setenv("TERM", "dumb", 1);
      setenv("RUN", JOB_RUNNER, 1);
      execlp("bash", "bash", "--norc", "--noprofile", "--noediting", "-i", nullptr);
      _exit(127);
    }
    see("$ ");
  }
  // Also after a failure, in whatever state that left the jobs: all of the session goes.
  ~Terminal() {
    kill_session(shell_);
    waitpid(shell_, nullptr, 0);
    close(terminal_);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  void press(const std::string& keys) {
    REQUIRE(write(terminal_, keys.data(), keys.size()) == static_cast<ssize_t>(keys.size()));
  }
  void type(const std::string& line) { press(line + "\n"); }

  // Reads until the text appears, and forgets what came up to its end.
  void see(const std::string& text) {
    INFO("waiting for: " << text << "\nscreen: " << screen_);
    while (screen_.find(text) == std::string::npos) {
      pollfd readable{terminal_, POLLIN, 0};
      if (poll(&readable, 1, 10'000) != 1) FAIL("it did not come; screen: " << screen_);
      char bytes[1024];
      const ssize_t count = read(terminal_, bytes, sizeof bytes);
      if (count <= 0) FAIL("the shell has gone; screen: " << screen_);
      screen_.append(bytes, static_cast<std::size_t>(count));
    }
    screen_.erase(0, screen_.find(text) + text.size());
  }

  void see_status(int status) {
    see("$ ");
    type("echo status=$?");
    see("status=" + std::to_string(status) + "\r\n");
  }

 private:
  int terminal_ = -1;
  pid_t shell_ = 0;
  std::string screen_;
};

}  // namespace

TEST_CASE("Ctrl-C reaches the command, once, and its exit status the shell") {
  Terminal terminal;
  terminal.type(
      "$RUN sh -c 'trap \"echo got INT; n=$((n+1))\" INT; echo u''p; "
      "while [ -z \"$n\" ]; do sleep 0.01; done; exit 5'");
  terminal.see("up");
  terminal.press(kCtrlC);
  terminal.see("got INT\r\n");
  terminal.see_status(5);
}

TEST_CASE("the command reads from the terminal, and the shell has it back afterwards") {
  Terminal terminal;
  terminal.type("$RUN cat");
  terminal.type("first");
  terminal.see("first\r\nfirst\r\n");  // the terminal's echo, and cat's
  terminal.press(kCtrlD);
  terminal.see_status(0);
}

TEST_CASE("Ctrl-Z stops command and parent, fg continues both") {
  Terminal terminal;
  terminal.type("$RUN cat");
  terminal.type("first");
  terminal.see("first\r\nfirst\r\n");
  terminal.press(kCtrlZ);
  terminal.see("Stopped");
  terminal.see("$ ");
  terminal.type("ps -o stat= -p $(jobs -p) | cut -c1");
  terminal.see("T\r\n");
  terminal.see("$ ");
  terminal.type("fg");
  terminal.see("continuing");
  terminal.type("second");
  terminal.see("second\r\nsecond\r\n");
  terminal.press(kCtrlZ);  // and once more
  terminal.see("Stopped");
  terminal.see("$ ");
  terminal.type("fg");
  terminal.see("continuing");
  terminal.press(kCtrlD);
  terminal.see_status(0);
}

TEST_CASE("a pipeline is stopped and continued as one job") {
  Terminal terminal;
  terminal.type("$RUN cat | sed -u s/^/out:/");
  terminal.type("first");
  terminal.see("out:first");
  terminal.press(kCtrlZ);
  terminal.see("Stopped");
  terminal.see("$ ");
  terminal.type("fg");
  terminal.see("continuing");
  terminal.type("second");
  terminal.see("out:second");
  terminal.press(kCtrlD);
  terminal.see_status(0);
}

TEST_CASE("a lock found lost on continuing ends the command before it runs on") {
  Terminal terminal;
  terminal.type("$RUN --lost-on-continuing cat");
  terminal.type("first");
  terminal.see("first\r\nfirst\r\n");
  terminal.press(kCtrlZ);
  terminal.see("Stopped");
  terminal.see("$ ");
  terminal.type("fg");
  terminal.see("continuing");
  terminal.see_status(128 + SIGTERM);
}

TEST_CASE("a background job that wants to read is stopped until fg gives it the terminal") {
  Terminal terminal;
  terminal.type("$RUN sh -c 'read line; echo \"got:$line\"' &");
  terminal.see("$ ");
  terminal.type("until jobs | grep -q Stopped; do sleep 0.01; done; echo stop''ped");
  terminal.see("stopped\r\n");
  terminal.type("fg");
  terminal.see("continuing");
  terminal.type("text");
  terminal.see("got:text");
  terminal.see_status(0);
}

TEST_CASE("a background job that was brought to the foreground gets the terminal when it asks") {
  Folder folder;
  Terminal terminal;
  terminal.type("$RUN sh -c 'until [ -e " + (folder / "go") +
                " ]; do sleep 0.01; done; read line; echo \"got:$line\"' &");
  terminal.see("$ ");
  terminal.type("fg");
  terminal.see("sh -c");  // the shell names the job it brings
  folder.write("go", "");
  terminal.type("text");
  terminal.see("got:text");
  terminal.see_status(0);
}

TEST_CASE("a stop of the parent is handed to the command first") {
  Folder folder;
  Lines lines(folder);
  Terminal terminal;
  terminal.type("$RUN sh -c 'echo $$ > " + lines.path() + "; exec sleep 1000' < /dev/null &");
  const std::string command = lines.next();
  terminal.type("kill -TSTP %1");
  terminal.type("until jobs | grep -q Stopped; do sleep 0.01; done; echo stop''ped");
  terminal.see("stopped\r\n");
  terminal.type("ps -o stat= -p " + command + " | cut -c1");
  terminal.see("T\r\n");
  terminal.type("bg");
  terminal.see("continuing");
  terminal.type("kill %1; wait %1");
  terminal.see("Exit 143");  // the runner tells how its command ended, as shells do
}

TEST_CASE("what the parent prints behind its job does not stop it, even under stty tostop") {
  Folder folder;
  Lines lines(folder);
  Terminal terminal;
  terminal.type("stty tostop");
  terminal.type("$RUN sh -c 'echo $$ > " + lines.path() + "; exec sleep 1000' < /dev/null &");
  lines.next();
  terminal.type("kill -TSTP %1");
  terminal.type("until jobs | grep -q Stopped; do sleep 0.01; done; echo stop''ped");
  terminal.see("stopped\r\n");
  terminal.type("bg");
  terminal.see("continuing");
  terminal.type("kill %1; wait %1");
  terminal.see("Exit 143");
}

TEST_CASE("modes that a killed command has set do not stay") {
  Terminal terminal;
  terminal.type("$RUN sh -c 'stty -echo -icanon; kill -9 $$'");
  terminal.see_status(128 + SIGKILL);
  terminal.type("stty | grep -c -e -icanon");
  terminal.see("0\r\n");
}

TEST_CASE("a program that cannot be executed leaves the terminal to the shell") {
  Terminal terminal;
  terminal.type("$RUN no-such-program-here");
  terminal.see("not found");
  terminal.see_status(127);
}
