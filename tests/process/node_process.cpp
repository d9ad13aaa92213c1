#include "tests/process/node_process.h"

#include "base/invariant.h"
#include "coordinator/process_launch.h"

#include <arpa/inet.h>
#include <csignal>
#include <filesystem>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

namespace redlock {

std::uint16_t free_port(Random& random, std::set<std::uint16_t>& given) {
  for (;;) {
    const auto port = static_cast<std::uint16_t>(12'000 + random.below(20'000));
    if (!given.insert(port).second) continue;
    const int probe = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const bool is_free = bind(probe, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    close(probe);
    if (is_free) return port;
  }
}

NodeProcess::~NodeProcess() {
  if (pid_ > 0) kill();
}

std::string NodeProcess::address() const {
  return fmt::format("redis://127.0.0.1:{}", port());
}

// Beside the folder, so that it outlives its loss.
pid_t NodeProcess::launch(std::vector<std::string> words) {
  coordinator::Command command;
  command.words = std::move(words);
  command.output_file = settings_.folder + ".log";
  command.is_job = false;
  const auto launched = coordinator::launch(command, false, -1);
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
