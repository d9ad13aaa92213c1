// Real servers, spoken to over plain blocking sockets: a test's client needs no loop.
#include "protocol/reply_parser.h"
#include "protocol/request_writer.h"
#include "tests/transcript/target.h"

#include <arpa/inet.h>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <map>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

namespace redlock::transcript {
namespace {

constexpr int kStartTries = 3;
constexpr auto kStartTime = std::chrono::seconds(10);
constexpr timeval kAnswerTime{.tv_sec = 10, .tv_usec = 0};

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

class Connection {
 public:
  explicit Connection(std::uint16_t port)
      : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const sockaddr_in address = loopback(port);
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &kAnswerTime, sizeof kAnswerTime);
    connected_ = connect(socket_, generic(address), sizeof address) == 0;
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() { close(socket_); }

  bool is_connected() const { return connected_; }

  std::string ask(const std::vector<std::string>& words) {
    protocol::OutputBuffer bytes;
    const std::vector<std::string_view> views(words.begin(), words.end());
    protocol::write_request(views, bytes);
    std::string_view rest = bytes.view();
    while (!rest.empty()) {
      const ssize_t sent = send(socket_, rest.data(), rest.size(), MSG_NOSIGNAL);
      if (sent < 0) return "(closed)";
      rest.remove_prefix(static_cast<std::size_t>(sent));
    }
    return receive();
  }

 private:
  std::string receive() {
    for (;;) {
      auto parsed = protocol::parse_reply(pending_);
      if (parsed.state == protocol::ParsedReply::State::broken) return "(broken) " + parsed.problem;
      if (parsed.state == protocol::ParsedReply::State::complete) {
        pending_.erase(0, parsed.consumed);
        return parsed.reply.to_string();
      }
      char buffer[16 * 1024];
      const ssize_t received = recv(socket_, buffer, sizeof buffer, 0);
      if (received < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return "(none)";
      if (received <= 0) return "(closed)";
      pending_.append(buffer, static_cast<std::size_t>(received));
    }
  }

  int socket_;
  bool connected_ = false;
  std::string pending_;
};

// A folder below the system's for temporary files; goes with the object.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "transcript-XXXXXX").string();
    if (mkdtemp(name.data()) != nullptr) path_ = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

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

  // Runs a program to its end; true when it was content.
  bool run(std::vector<std::string> words) {
    int status = 0;
    const pid_t child = redlock::transcript::start(std::move(words), folder());
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
  }

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
    auto& connection = clients_[client];
    if (!connection) connection = std::make_unique<Connection>(port_);
    return connection->ask(words);
  }

  void wait(Duration d) override { std::this_thread::sleep_for(d); }

 private:
  bool answers_soon() const {
    const auto give_up = std::chrono::steady_clock::now() + kStartTime;
    while (std::chrono::steady_clock::now() < give_up) {
      if (Connection(port_).is_connected()) return true;
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
  std::map<std::string, std::unique_ptr<Connection>> clients_;
};

void add_settings(const std::vector<SettingLine>& settings, std::vector<std::string>& words) {
  for (const SettingLine& setting : settings) {
    words.push_back("--" + setting.name);
    words.insert(words.end(), setting.words.begin(), setting.words.end());
  }
}

}  // namespace

Result<std::unique_ptr<Target>> redlock_node_process(const std::string& program,
                                                     const std::vector<SettingLine>& settings) {
  auto server = std::make_unique<Server>();
  if (!server->run({program, "--bootstrap", "--dir", server->folder() + "/state"})) {
    return Failure{"the node cannot be bootstrapped"};
  }
  std::vector<std::string> words = {program, "--dir", server->folder() + "/state", "--bind",
                                    "127.0.0.1"};
  add_settings(settings, words);
  if (Status started = server->start(words); !started) return started.failure();
  return std::unique_ptr<Target>(std::move(server));
}

Result<std::unique_ptr<Target>> redis_server_process(const std::string& program,
                                                     const std::vector<SettingLine>& settings) {
  auto server = std::make_unique<Server>();
  std::vector<std::string> words = {program,  "--dir", server->folder(), "--bind", "127.0.0.1",
                                    "--save", "",      "--appendonly",   "no"};
  add_settings(settings, words);
  if (Status started = server->start(words); !started) return started.failure();
  return std::unique_ptr<Target>(std::move(server));
}

}  // namespace redlock::transcript
