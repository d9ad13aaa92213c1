#include "base/hidden.h"
#include "base/net/process/spare_descriptors.h"
#include "base/net/turn/clock.h"
#include "base/net/turn/loop.h"
#include "base/net/turn/mailbox.h"
#include "base/net/turn/quiet_thread.h"
#include "server/settings/configuration.h"
#include "server/settings/setting_table.h"
#include "server/shell/node_run.h"
#include <redlock/embedded_node.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <optional>
#include <thread>

#include <fmt/format.h>

namespace redlock {
namespace {

using server::Configuration;
using server::NodeRun;
using server::Settings;

constexpr int kDescriptors = 20;  // for its loop, its files and its first clients

// Settings of the program that are members of the options here, or mean nothing in here.
struct NotASetting {
  std::string_view name;
  std::string_view instead;
};
constexpr std::string_view kOfAProcess = "it is about a process of its own";
constexpr NotASetting kNotSettings[] = {
    {"port", "say it as EmbeddedNodeOptions::port"},
    {"bind", "say it as EmbeddedNodeOptions::host"},
    {"unixsocket", "say it as EmbeddedNodeOptions::unix_socket"},
    {"dir", "say it as EmbeddedNodeOptions::folder"},
    {"logfile", "take the lines by EmbeddedNodeOptions::log"},
    {"pidfile", kOfAProcess},
    {"supervised", kOfAProcess},
};

Status apply(Configuration& configuration, std::string_view name, std::string_view value) {
  const server::Setting* known = server::find_setting(name);
  const auto* refused =
      std::find_if(std::begin(kNotSettings), std::end(kNotSettings),
                   [&](const NotASetting& row) { return known && known->name == row.name; });
  if (refused != std::end(kNotSettings)) {
    return Failure{
        fmt::format("{} is no setting of an embedded node: {}", refused->name, refused->instead)};
  }
  const auto applied =
      server::apply(configuration.settings, name, server::words_of_value(name, value));
  if (!applied) return applied.error();
  const std::string_view meaningless = applied.value().meaningless;
  if (!applied.value().warning.empty()) {
    configuration.warnings.push_back(fmt::format("{}: {}", name, applied.value().warning));
  } else if (!meaningless.empty()) {
    configuration.warnings.push_back(
        fmt::format("{}: without effect here, as {}", name, meaningless));
  }
  return Done{};
}

Result<Configuration> configure(const EmbeddedNodeOptions& options) {
  Configuration configuration;
  for (const auto& [name, value] : options.settings) {
    if (auto applied = apply(configuration, name, value); !applied) return applied.error();
  }
  Settings& settings = configuration.settings;
  settings.dir = options.folder;
  if (options.unix_socket.empty()) {
    settings.bind = {options.host};
    settings.port = options.port;
  } else if (options.unix_socket.front() == '/') {
    settings.bind.clear();
    settings.port = 0;
    settings.unixsocket = options.unix_socket;
  } else {
    return Failure{fmt::format("unix_socket '{}': the path of a socket is absolute, from / on",
                               options.unix_socket)};
  }
  return configuration;
}

NodeRun::Options run_options(const EmbeddedNodeOptions& options) {
  return {.owns_process = false,
          .any_free_port = options.unix_socket.empty() && options.port == 0,
          .has_folder = !options.folder.empty(),
          .bootstrap = options.bootstrap};
}

class CallbackLog final : public LogSink {
 public:
  // `level` is looked at for each line, so CONFIG SET takes effect.
  CallbackLog(std::function<void(std::string_view)> take, const LogLevel& level)
      : take_(std::move(take)), level_(level) {}

  void log(LogLevel level, std::string_view text) override {
    if (!take_ || level < level_) return;
    std::string line = log_line(getpid(), net::read_wall_clock(), level, text);
    line.pop_back();  // the line's end
    take_(line);
  }

 private:
  std::function<void(std::string_view)> take_;
  const LogLevel& level_;
};

}  // namespace

// The node's thread, and what its owner shares with it. The loop belongs to the node's thread while
// that runs; before and after it is the owner's, so that there is always something to wake.
class REDLOCK_HIDDEN EmbeddedNode::Thread {
 public:
  Thread(Configuration configuration, NodeRun::Options options,
         std::function<void(std::string_view)> log)
      : settings_(std::move(configuration.settings)),
        warnings_(std::move(configuration.warnings)),
        options_(std::move(options)),
        log_(std::move(log), settings_.loglevel) {}

  ~Thread() { static_cast<void>(stop()); }
  Thread(const Thread&) = delete;
  Thread& operator=(const Thread&) = delete;

  // Once: begins, and waits until the node serves.
  Status begin() {
    Result<std::thread> thread = net::start_quiet_thread([this] { live(); });
    if (!thread) return Failure{"no thread for a node: " + thread.error().text};
    thread_ = std::move(thread).value();
    return begun_.get_future().get();
  }

  Status stop() {
    end(Ending::clean);
    return ended_;
  }
  void crash() { end(Ending::crash); }
  bool is_running() const { return is_running_; }

  // Known once it has begun.
  std::uint16_t port() const { return port_; }
  const std::string& address() const { return address_; }

 private:
  enum class Ending { clean, crash };

  // What is posted runs while the node serves. When it has stopped already nobody reads it.
  void end(Ending ending) {
    if (!thread_.joinable()) return;
    mailbox_.post([this, ending] {
      crashes_ = ending == Ending::crash;
      return crashes_ ? loop_.stop() : run_->stop();
    });
    thread_.join();
  }

  // All that follows: on the node's thread.

  void live() {
    for (const std::string& warning : warnings_) log_.log(LogLevel::warning, warning);
    run_.emplace(loop_, settings_, log_, options_);
    ended_ = serve();
    if (!ended_) log_.log(LogLevel::warning, ended_.error().text);
    run_.reset();
    is_running_ = false;
    if (!has_begun_) begun_.set_value(ended_);
  }

  Status serve() {
    if (Status opened = run_->open(); !opened) return opened;
    port_ = run_->listeners().port();
    address_ = (port_ == 0 ? "unix://" : "redis://") + run_->listeners().first_address();
    const Status served = run_->serve({.begun = [this] { tell_begun(); }});
    return served && !crashes_ ? run_->finish() : served;
  }

  void tell_begun() {
    has_begun_ = true;
    begun_.set_value(Done{});
  }

  Settings settings_;
  std::vector<std::string> warnings_;
  NodeRun::Options options_;
  CallbackLog log_;
  std::promise<Status> begun_;
  bool has_begun_ = false;
  std::uint16_t port_ = 0;
  std::string address_;
  bool crashes_ = false;
  std::atomic<bool> is_running_ = true;
  Status ended_ = Done{};  // the owner's after the join
  std::optional<NodeRun> run_;
  net::Loop loop_;
  net::Mailbox mailbox_{loop_};
  std::thread thread_;
};

Result<EmbeddedNode> EmbeddedNode::start(EmbeddedNodeOptions options) {
  auto configuration = configure(options);
  if (!configuration) return configuration.error();
  if (Status room = net::try_descriptors(kDescriptors, "an embedded node"); !room)
    return room.error();
  auto thread = std::make_unique<Thread>(std::move(configuration).value(), run_options(options),
                                         std::move(options.log));
  if (Status begun = thread->begin(); !begun) return begun.error();
  return EmbeddedNode(std::move(thread));
}

EmbeddedNode::EmbeddedNode(std::unique_ptr<Thread> thread) : thread_(std::move(thread)) {}
EmbeddedNode::EmbeddedNode(EmbeddedNode&&) noexcept = default;
EmbeddedNode& EmbeddedNode::operator=(EmbeddedNode&&) noexcept = default;
EmbeddedNode::~EmbeddedNode() = default;

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
