#include "base/net/mailbox.h"
#include "base/net/quiet_thread.h"
#include "base/quoted_words.h"
#include "server/configuration.h"
#include "server/node_run.h"
#include "server/state_folder.h"
#include <redlock/embedded_node.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <filesystem>
#include <future>
#include <thread>

#include <fmt/format.h>

namespace redlock {

using server::Configuration;
using server::Settings;

namespace {

// What the options' members say, or what is the process's and not a node's in it.
constexpr std::array<std::string_view, 8> kNotForEmbedded = {
    "port", "bind", "unixsocket", "dir", "logfile", "pidfile", "supervised", "include"};

Result<Settings> read_settings(const EmbeddedNodeOptions& options) {
  Configuration configuration;
  const server::ReadFile no_files = [](const std::string&) -> Result<std::string> {
    return Failure{"a node inside a program reads no files"};
  };
  for (const auto& [name, value] : options.settings) {
    if (std::find(kNotForEmbedded.begin(), kNotForEmbedded.end(), name) != kNotForEmbedded.end()) {
      return Failure{fmt::format("{} is no setting of a node inside a program", name)};
    }
    const auto words = split_quoted_words(value);
    if (!words) return Failure{fmt::format("{}: the quotes of its value do not close", name)};
    auto applied = server::apply_flag(name, *words, no_files, configuration);
    if (!applied) return applied.failure();
  }
  if (options.bootstrap && options.folder.empty()) {
    return Failure{"a node without a folder cannot be bootstrapped: it is new at each start"};
  }
  Settings settings = std::move(configuration.settings);
  settings.port = options.port;
  settings.bind = {options.host};
  if (!options.unix_socket.empty()) {
    settings.bind.clear();
    settings.unixsocket = options.unix_socket;
  }
  settings.dir = options.folder;
  return settings;
}

}  // namespace

// The node, its thread, and the few words that pass between them.
class EmbeddedNode::Thread final : private LogSink {
 public:
  Thread(EmbeddedNodeOptions options, Settings settings)
      : options_(std::move(options)), settings_(std::move(settings)) {}
  ~Thread() override { static_cast<void>(stop()); }
  Thread(const Thread&) = delete;
  Thread& operator=(const Thread&) = delete;

  Status start();
  Status stop();
  void crash();

  bool is_running() const { return running_; }
  std::uint16_t port() const { return port_; }
  std::string address() const {
    if (!options_.unix_socket.empty()) return "unix://" + options_.unix_socket;
    return "redis://" + net::Address{options_.host, port_}.text();
  }

 private:
  void run();
  void end(bool crashes);
  void log(LogLevel level, std::string_view text) override {
    if (options_.log && level >= settings_.loglevel) options_.log(text);
  }

  const EmbeddedNodeOptions options_;
  Settings settings_;
  net::Loop loop_;
  net::Mailbox mailbox_{loop_};  // open while the node runs
  std::promise<Status> started_;
  std::atomic<bool> running_ = false;
  std::thread thread_;
  // Written by the thread: the port before started_ is set, the others before it ends.
  std::uint16_t port_ = 0;
  std::function<void()> stop_run_;
  bool crashed_ = false;
  Status finished_ = Done{};
};

Status EmbeddedNode::Thread::start() {
  thread_ = net::start_quiet_thread([this] { run(); });
  Status status = started_.get_future().get();
  if (!status) thread_.join();
  return status;
}

// The thread. The watchdog's timer, within the run, is aimed at the thread that makes it.
void EmbeddedNode::Thread::run() {
  server::NodeRun run(loop_, settings_, *this,
                      {.owns_process = false,
                       .any_free_port = settings_.port == 0 && settings_.unixsocket.empty(),
                       .has_folder = !options_.folder.empty()});
  Status status = run.open();
  bool begun = false;
  if (status) {
    stop_run_ = [&run] { run.stop(); };
    status = run.serve({.begun = [&] {
      begun = running_ = true;
      port_ = run.doors().port();
      started_.set_value(Done{});
    }});
  }
  running_ = false;
  mailbox_.close();
  if (begun) {
    if (!crashed_) finished_ = run.finish();
  } else {
    started_.set_value(std::move(status));
  }
}

void EmbeddedNode::Thread::end(bool crashes) {
  if (!thread_.joinable()) return;
  mailbox_.post([this, crashes] {
    crashed_ = crashes;
    if (!crashes) return stop_run_();
    loop_.stop();
  });
  thread_.join();
}

Status EmbeddedNode::Thread::stop() {
  end(false);
  return finished_;
}

void EmbeddedNode::Thread::crash() {
  end(true);
}

EmbeddedNode::EmbeddedNode(std::unique_ptr<Thread> thread) : thread_(std::move(thread)) {}
EmbeddedNode::EmbeddedNode(EmbeddedNode&&) noexcept = default;
EmbeddedNode& EmbeddedNode::operator=(EmbeddedNode&&) noexcept = default;
EmbeddedNode::~EmbeddedNode() = default;

Result<EmbeddedNode> EmbeddedNode::start(EmbeddedNodeOptions options) {
  auto settings = read_settings(options);
  if (!settings) return settings.failure();
  if (options.bootstrap && !std::filesystem::exists(options.folder + "/ledger")) {
    const std::string& node_id = settings.value().node_id;
    auto made =
        server::bootstrap(options.folder, node_id.empty() ? server::random_node_id() : node_id, 0);
    if (!made) return made.failure();
  }
  auto thread = std::make_unique<Thread>(std::move(options), std::move(settings).value());
  if (auto started = thread->start(); !started) return started.failure();
  return EmbeddedNode(std::move(thread));
}

std::uint16_t EmbeddedNode::port() const {
  return thread_->port();
}

std::string EmbeddedNode::address() const {
  return thread_->address();
}

Status EmbeddedNode::stop() {
  return thread_->stop();
}

void EmbeddedNode::crash() {
  thread_->crash();
}

bool EmbeddedNode::running() const {
  return thread_->is_running();
}

}  // namespace redlock
