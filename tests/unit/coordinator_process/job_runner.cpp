// job_runner [--service] [--lost-on-continuing] COMMAND [ARG…]: `redlock run` without a lock, for
// the tests that need a parent which can be killed, or one that a shell stops and continues.
#include "coordinator/child_process.h"

#include <csignal>
#include <cstdio>
#include <list>
#include <string_view>

using namespace redlock;
using namespace redlock::coordinator;

namespace {

class Runner : public ChildProcess::User {
 public:
  explicit Runner(bool lost_on_continuing) : lost_on_continuing_(lost_on_continuing) {}

  int run(const Command& command) {
    for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2}) {
      if (signal_is_ignored(number)) continue;
      signals_.emplace_back(loop_, number, [this, number] { process_.pass_on(number); });
    }
    if (const auto failure = process_.start(command)) {
      std::fprintf(stderr, "%s\n", failure->text.c_str());
      return failure->exit_status;
    }
    loop_.run();
    return status_.as_shell_status();
  }

  void on_exit(const ExitStatus& status) override { status_ = status; }
  void on_continuing() override {
    std::puts("continuing");
    std::fflush(stdout);
    if (lost_on_continuing_) process_.stop(SIGTERM, 1s);
  }

 private:
  net::Loop loop_;
  std::list<net::Signal> signals_;
  ChildProcess process_{loop_, *this};
  ExitStatus status_;
  bool lost_on_continuing_;
};

}  // namespace

int main(int argc, char** argv) {
  Command command;
  bool lost_on_continuing = false;
  int first = 1;
  for (; first < argc && argv[first][0] == '-'; ++first) {
    const std::string_view option = argv[first];
    if (option == "--service") {
      command.is_job = false;
      command.on_parent_death = OnParentDeath::terminate;
    }
    if (option == "--lost-on-continuing") lost_on_continuing = true;
  }
  command.words.assign(argv + first, argv + argc);
  return Runner(lost_on_continuing).run(command);
}
