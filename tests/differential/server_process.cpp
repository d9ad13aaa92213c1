#include "tests/differential/server_process.h"

#include "coordinator/process/process_launch.h"
#include "tests/support/blocking_client.h"

#include <chrono>
#include <csignal>
#include <fstream>
#include <iterator>
#include <sys/wait.h>
#include <thread>

#include <fmt/format.h>

namespace redlock::differential {
namespace {

constexpr auto kStartTime = std::chrono::seconds(20);
constexpr auto kPoll = std::chrono::milliseconds(5);
constexpr std::size_t kLastWords = 2000;

pid_t run(const std::vector<std::string>& words, const std::string& log_path) {
  coordinator::ProcessCommand command;
  command.words = words;
  command.output_file = log_path;
  return coordinator::launch(command, -1).pid;
}

}  // namespace

Status ServerProcess::start_node(const std::string& program) {
  const std::string state = folder_.path() + "/state";
  int status = 1;
  const pid_t bootstrap = run({program, "--bootstrap", "--dir", state}, log_path_);
  if (bootstrap <= 0 || waitpid(bootstrap, &status, 0) != bootstrap || status != 0) {
    return Failure{fmt::format("{} --bootstrap failed: {}", program, last_words())};
  }
  words_ = {program,   "--dir",           state, "--port",       "0",          "--max-ttl",
            "36500d",  "--require-ttl",   "no",  "--unixsocket", socket_path_, "--loglevel",
            "warning", "--restart-delay", "off"};
  return launch();
}

// One database as a node has, and words as long as a node takes; hz, so that WAIT's end is not
// waited for a tenth of a second.
Status ServerProcess::start_redis(const std::string& program) {
  words_ = {program,
            "--dir",
            folder_.path(),
            "--port",
            "0",
            "--databases",
            "1",
            "--unixsocket",
            socket_path_,
            "--save",
            "",
            "--appendonly",
            "no",
            "--proto-max-bulk-len",
            "16mb",
            "--hz",
            "500",
            "--loglevel",
            "warning"};
  return launch();
}

Status ServerProcess::start_again() {
  stop();
  return launch();
}

Status ServerProcess::launch() {
  pid_ = run(words_, log_path_);
  if (pid_ <= 0) return Failure{fmt::format("{} cannot be executed", words_.front())};
  const auto give_up = std::chrono::steady_clock::now() + kStartTime;
  while (std::chrono::steady_clock::now() < give_up && is_running()) {
    BlockingClient client(socket_path_);
    if (client.is_connected() && client.ask({"PING"}) == "+PONG") return Done{};
    std::this_thread::sleep_for(kPoll);
  }
  return Failure{fmt::format("{} does not start: {}", words_.front(), last_words())};
}

bool ServerProcess::is_running() {
  if (pid_ > 0 && waitpid(pid_, nullptr, WNOHANG) == pid_) pid_ = 0;
  return pid_ > 0;
}

std::string ServerProcess::last_words() const {
  std::ifstream file(log_path_);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  return text.size() > kLastWords ? text.substr(text.size() - kLastWords) : text;
}

void ServerProcess::stop() {
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  pid_ = 0;
}

}  // namespace redlock::differential
