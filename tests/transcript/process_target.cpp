// Redis, as a process of its own.
#include "tests/support/temporary_folder.h"
#include "tests/transcript/clients.h"
#include "tests/transcript/target.h"

#include <arpa/inet.h>
#include <csignal>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>

namespace redlock::transcript {
namespace {

constexpr int kStartTries = 3;
constexpr auto kStartTime = std::chrono::seconds(10);

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

const sockaddr* generic(const sockaddr_in& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

// A port that was free a moment ago. Whoever takes it meanwhile costs a second try.
std::uint16_t free_port() {
  const int probe = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  const bool known = bind(probe, generic(address), size) == 0 &&
                     getsockname(probe, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  close(probe);
  return known ? ntohs(address.sin_port) : std::uint16_t{0};
}

// Starts a program in the folder; what it prints goes to the file `log` there. It is killed when
// this program ends, however that happens.
pid_t start(std::vector<std::string> words, const std::string& folder) {
  const std::string log = folder + "/log";
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const pid_t child = fork();
  if (child != 0) return child;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int output = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  execv(arguments[0], arguments.data());
  _exit(127);
}

class Server final : public Target {
 public:
  Server() = default;
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server() override { stop(); }

  const std::string& folder() const { return folder_.path(); }

  // words: the command line, to which the port is added.
  Status start(const std::vector<std::string>& words) {
    for (int tries = 0; tries < kStartTries; ++tries) {
      port_ = free_port();
      std::vector<std::string> with_port = words;
      with_port.insert(with_port.end(), {"--port", std::to_string(port_)});
      process_ = redlock::transcript::start(std::move(with_port), folder());
      if (answers_soon()) return Done{};
      stop();
    }
    return Failure{fmt::format("{} does not start", words.front())};
  }

  std::string ask(const std::string& client, const std::vector<std::string>& words) override {
    return clients_.ask(client, port_, words);
  }

  std::string hear(const std::string& client) override { return clients_.hear(client, port_); }

  void wait(Duration d) override { std::this_thread::sleep_for(d); }

 private:
  bool answers_soon() const {
    const auto give_up = std::chrono::steady_clock::now() + kStartTime;
    while (std::chrono::steady_clock::now() < give_up) {
      if (BlockingClient(port_).is_connected()) return true;
      if (waitpid(process_, nullptr, WNOHANG) == process_) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return false;
  }

  void stop() {
    clients_.clear();
    if (process_ <= 0) return;
    kill(process_, SIGTERM);
    waitpid(process_, nullptr, 0);
    process_ = -1;
  }

  TemporaryFolder folder_;
  pid_t process_ = -1;
  std::uint16_t port_ = 0;
  Clients clients_;
};

}  // namespace

Result<std::unique_ptr<Target>> redis_server_process(const std::string& program,
                                                     const std::vector<SettingLine>& settings) {
  auto server = std::make_unique<Server>();
  std::vector<std::string> words = {program,  "--dir", server->folder(), "--bind", "127.0.0.1",
                                    "--save", "",      "--appendonly",   "no"};
  for (const SettingLine& setting : settings) {
    words.push_back("--" + setting.name);
    words.insert(words.end(), setting.words.begin(), setting.words.end());
  }
  if (Status started = server->start(words); !started) return started.error();
  return std::unique_ptr<Target>(std::move(server));
}

}  // namespace redlock::transcript
