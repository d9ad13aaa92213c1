// job_runner [--service] [--lost-on-continuing] COMMAND [ARG…]: `redlock run` without a lock, for
// the tests that need a parent which can be killed, or one that a shell stops and continues.
#include "coordinator/process/child_process.h"
#include "coordinator/process/guarded_command.h"

#include <csignal>
#include <cstdio>
#include <list>
#include <string_view>

using namespace redlock;
using namespace redlock::coordinator;

namespace {

int complain(const StartFailure& failure) {
  std::fprintf(stderr, "%s\n", failure.text.c_str());
  return failure.exit_status;
}

class JobRunner : public GuardedCommand::User {
 public:
  explicit JobRunner(bool lost_on_continuing) : lost_on_continuing_(lost_on_continuing) {}

  int run(const ProcessCommand& command) {
    for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2}) {
      if (signal_is_ignored(number)) continue;
      signals_.emplace_back(loop_, number, [this, number] { command_.pass_on(number); });
    }
    if (const auto failure = command_.start(command, {})) return complain(*failure);
    loop_.run();
    return status_;
  }

 private:
  void on_start_failed(const StartFailure& failure) override { status_ = complain(failure); }
  void on_exit(const GuardedCommand::End& end) override { status_ = end.status.as_shell_status(); }
  void on_continuing() override {
    std::puts("continuing");
    std::fflush(stdout);
    if (lost_on_continuing_) command_.stop(1s);
  }

  net::Loop loop_;
  std::list<net::Signal> signals_;
  GuardedCommand command_{loop_, *this};
  int status_ = 0;
  bool lost_on_continuing_;
};

class ServiceRunner : public ChildProcess::User {
 public:
  int run(ProcessCommand command) {
    command.on_parent_death = OnParentDeath::terminate;
    if (const auto failure = process_.start(command)) return complain(*failure);
    loop_.run();
    return status_;
  }

 private:
  void on_exit(const ExitStatus& status) override { status_ = status.as_shell_status(); }

  net::Loop loop_;
  ChildProcess process_{loop_, *this};
  int status_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  ProcessCommand command;
  bool is_service = false;
  bool lost_on_continuing = false;
  int first = 1;
  for (; first < argc && argv[first][0] == '-'; ++first) {
    const std::string_view option = argv[first];
    if (option == "--service") is_service = true;
    if (option == "--lost-on-continuing") lost_on_continuing = true;
  }
  command.words.assign(argv + first, argv + argc);
  return is_service ? ServiceRunner().run(command) : JobRunner(lost_on_continuing).run(command);
}
