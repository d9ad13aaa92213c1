#include "tests/process/node_process.h"

#include "base/invariant.h"
#include "coordinator/process/process_launch.h"

#include <csignal>
#include <filesystem>
#include <sys/wait.h>
#include <utility>

#include <fmt/format.h>

namespace redlock {

NodeProcess::~NodeProcess() {
  if (pid_ > 0) kill();
}

std::string NodeProcess::address() const {
  return fmt::format("redis://127.0.0.1:{}", port());
}

// Beside the folder, so that it outlives its loss.
pid_t NodeProcess::launch(std::vector<std::string> words) {
  coordinator::ProcessCommand command;
  command.words = std::move(words);
  command.output_file = settings_.folder + ".log";
  const auto launched = coordinator::launch(command, -1);
  INVARIANT(launched.pid > 0, "the node's program cannot be executed");
  return launched.pid;
}

bool NodeProcess::bootstrap() {
  int status = 1;
  const pid_t pid = launch({settings_.program, "--bootstrap", "--dir", settings_.folder});
  return waitpid(pid, &status, 0) == pid && status == 0;
}

void NodeProcess::start() {
  INVARIANT(pid_ == 0, "the node runs already");
  std::vector<std::string> words = {settings_.program, "--dir", settings_.folder, "--port",
                                    std::to_string(port())};
  words.insert(words.end(), settings_.flags.begin(), settings_.flags.end());
  pid_ = launch(std::move(words));
}

void NodeProcess::kill() {
  INVARIANT(pid_ > 0 && ::kill(pid_, SIGKILL) == 0, "the node was not started");
  waitpid(pid_, nullptr, 0);
  pid_ = 0;
}

void NodeProcess::lose_folder() {
  INVARIANT(pid_ == 0, "the node still runs");
  std::error_code ignored;
  std::filesystem::remove_all(settings_.folder, ignored);
}

}  // namespace redlock
