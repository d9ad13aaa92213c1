#include "coordinator/drill/world/nodes.h"

#include "base/net/process/system_random.h"
#include "base/net/sockets/listener.h"
#include "base/text/duration_text.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

namespace redlock::drill {
namespace {

namespace fs = std::filesystem;

constexpr Duration kReadyWithin = 10s;    // also: a node's bootstrap
constexpr Duration kStoppedWithin = 10s;  // then SIGKILL
constexpr Duration kGoneWithin = 5s;      // a connection to a node that was killed
constexpr Duration kConnectedWithin = 5s;

// Below those that the kernel gives to clients, so that a node gets its port again after a kill.
constexpr std::uint64_t kFirstPort = 12'000;
constexpr std::uint64_t kLastPort = 30'000;

constexpr const char* kLoopback = "127.0.0.1";

std::string url(const std::string& host, std::uint16_t port) {
  return fmt::format("redis://{}:{}", host, port);
}

std::uint16_t free_port(net::Loop& loop, const std::vector<std::string>& taken) {
  for (;;) {
    const auto port = static_cast<std::uint16_t>(kFirstPort + net::system_random_seed() %
                                                                  (kLastPort - kFirstPort));
    if (std::find(taken.begin(), taken.end(), url(kLoopback, port)) != taken.end()) continue;
    const auto ignore = [](std::unique_ptr<net::Stream>) {};
    if (net::Listener::listen(loop, {kLoopback, port}, 1, ignore)) return port;
  }
}

void replace_all(std::string& text, std::string_view name, std::string_view value) {
  for (std::size_t at = text.find(name); at != std::string::npos;
       at = text.find(name, at + value.size())) {
    text.replace(at, name.size(), value);
  }
}

Status make_folder(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return Failure{fmt::format("{} cannot be made: {}", folder, error.message())};
  return Done{};
}

// A connection that does nothing but end when the node's process does: the kernel closes it.
class Lifeline : private net::Stream::User {
 public:
  Lifeline(Stage& stage, const net::Address& address)
      : stage_(stage), stream_(net::Stream::connect(stage.loop(), address, *this)) {}

  bool connected() {
    return stage_.until([this] { return connected_ || ended_; }, kConnectedWithin) && !ended_;
  }
  bool ended() {
    return stage_.until([this] { return ended_; }, kGoneWithin);
  }

 private:
  void on_connected() override {
    connected_ = true;
    stream_->start_reading();
    stage_.wake();
  }
  void on_bytes(std::string_view) override {}
  void on_end(std::string_view) override {
    ended_ = true;
    stage_.wake();
  }

  Stage& stage_;
  bool connected_ = false;
  bool ended_ = false;
  std::unique_ptr<net::Stream> stream_;
};

}  // namespace

std::string address_text(const std::string& address) {
  return coordinator::parse_node_address(address).value().text();
}

OwnNodes::OwnNodes(Stage& stage, std::string folder, std::string program, Duration max_ttl)
    : stage_(stage),
      folder_(std::move(folder)),
      program_(std::move(program)),
      max_ttl_(max_ttl),
      places_(kNodes) {}

Status OwnNodes::look_at_program() {
  const auto told = run_to_end(stage_, {program_, "--version"}, folder_ + "/version");
  if (!told) return Failure{fmt::format("{} --version: {}", program_, told.error().text)};
  is_redlock_node_ = told.value().find("redlock-node") != std::string::npos;
  return Done{};
}

Status OwnNodes::start(std::string_view restart_delay) {
  options_ = {"--save", "", "--appendonly", "no"};
  if (is_redlock_node_) {
    options_ = {"--max-ttl", duration_text(max_ttl_), "--restart-delay",
                std::string(restart_delay)};
  }
  const std::string half = fmt::format("{}/half-{}", folder_, ++halves_);
  for (std::size_t i = 0; i < places_.size(); ++i) {
    auto made = make_node(places_[i], fmt::format("{}/node-{}", half, i + 1));
    if (!made) return made;
  }
  if (is_redlock_node_) {
    for (const auto& node : nodes_) node->bootstrap();
    if (auto done = wait_until_all(coordinator::LocalNode::State::bootstrapped); !done) return done;
  }
  for (const auto& node : nodes_) node->serve();
  return wait_until_all(coordinator::LocalNode::State::ready);
}

Status OwnNodes::make_node(const Place& place, const std::string& folder) {
  if (auto made = make_folder(folder); !made) return made;
  std::vector<std::string> options = options_;
  const std::uint16_t port = place.port != 0 ? place.port : free_port(stage_.loop(), addresses_);
  addresses_.push_back(url(place.host, port));
  options.insert(options.end(), {"--bind", place.host});
  // Whoever can reach another address than the loopback's is one of the drill's own.
  if (place.host != kLoopback) options.insert(options.end(), {"--protected-mode", "no"});
  nodes_.push_back(node_process({.program = program_,
                                 .port = port,
                                 .folder = folder,
                                 .options = std::move(options),
                                 .ready_within = kReadyWithin,
                                 .on_parent_death = coordinator::OnParentDeath::kill_group,
                                 .host = place.host,
                                 .environment = place.environment,
                                 .network_namespace = place.network_namespace}));
  return Done{};
}

std::unique_ptr<coordinator::LocalNode> OwnNodes::node_process(
    coordinator::LocalNodeSettings settings) {
  return std::make_unique<coordinator::LocalNode>(stage_.loop(), std::move(settings),
                                                  [this] { stage_.wake(); });
}

Status OwnNodes::wait_until_all(coordinator::LocalNode::State state) {
  const auto all_are = [&](coordinator::LocalNode::State wanted) {
    return std::all_of(nodes_.begin(), nodes_.end(),
                       [&](const auto& node) { return node->state() == wanted; });
  };
  const auto one_failed = [&] {
    return std::any_of(nodes_.begin(), nodes_.end(), [](const auto& node) {
      return node->state() == coordinator::LocalNode::State::failed;
    });
  };
  // Each node gives up by itself after kReadyWithin.
  stage_.until([&] { return all_are(state) || one_failed(); }, 2 * kReadyWithin);
  for (const auto& node : nodes_) {
    if (const auto failure = node->take_failure()) return Failure{failure->text()};
  }
  if (!all_are(state)) return Failure{"the nodes were not waited for"};
  return Done{};
}

Result<std::string> OwnNodes::kill(std::size_t node) {
  coordinator::LocalNode& process = *nodes_[node];
  const pid_t pid = process.pid();
  process.stop(0s);
  if (!stage_.until([&] { return !process.is_running(); }, kGoneWithin)) {
    return Failure{fmt::format("process {} still runs after SIGKILL", pid)};
  }
  return fmt::format("SIGKILL to process {}", pid);
}

void OwnNodes::begin_again(std::size_t node) {
  nodes_[node] = node_process(nodes_[node]->settings());
  nodes_[node]->serve();
}

Status OwnNodes::add_place(const Place& place) {
  return make_node(place, fmt::format("{}/place-{}", folder_, nodes_.size() + 1));
}

Status OwnNodes::begin_anew(std::size_t node, bool bootstrapped) {
  coordinator::LocalNodeSettings settings = nodes_[node]->settings();
  settings.folder = fmt::format("{}/newcomer-{}", folder_, ++later_folders_);
  if (auto made = make_folder(settings.folder); !made) return made;
  nodes_[node] = node_process(std::move(settings));
  if (bootstrapped) {
    nodes_[node]->bootstrap();
  } else {
    nodes_[node]->serve();
  }
  return Done{};
}

Status OwnNodes::start_again(std::size_t node) {
  begin_again(node);
  return wait_until_all(coordinator::LocalNode::State::ready);
}

Status OwnNodes::end() {
  for (const auto& node : nodes_) node->stop(kStoppedWithin);
  const bool all_gone = stage_.until(
      [this] {
        return std::none_of(nodes_.begin(), nodes_.end(),
                            [](const auto& node) { return node->is_running(); });
      },
      2 * kStoppedWithin);
  nodes_.clear();  // kills what still runs
  addresses_.clear();
  if (!all_gone) return Failure{"not all nodes stopped; they were killed"};
  return Done{};
}

NodesElsewhere::NodesElsewhere(Stage& stage, const std::string& nodes, Commands commands)
    : stage_(stage), commands_(std::move(commands)) {
  std::string_view rest = nodes;
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    std::string_view address = rest.substr(0, comma);
    address.remove_prefix(std::min(address.find_first_not_of(' '), address.size()));
    address = address.substr(0, address.find_last_not_of(' ') + 1);
    addresses_.emplace_back(address);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
}

bool NodesElsewhere::has_restart_delay() const {
  return commands_.start.find("{restart-delay}") != std::string::npos;
}

Status NodesElsewhere::start(std::string_view restart_delay) {
  restart_delay_ = restart_delay;
  return Done{};
}

Result<std::string> NodesElsewhere::kill(std::size_t node) {
  Lifeline lifeline(stage_, coordinator::parse_node_address(addresses_[node]).value().address);
  if (!lifeline.connected()) return Failure{"it cannot be reached"};
  // Until it is gone: as long as it dies it has its files and its port, and none can be started.
  const Stage::Undisturbed undisturbed(stage_);
  down_ = node;
  if (auto done = run(commands_.kill, node, "the kill command"); !done) return done.error();
  if (!lifeline.ended()) {
    return Failure{"the kill command ended well, but a connection to the node is still open"};
  }
  return std::string("the kill command; its connections have ended");
}

Status NodesElsewhere::start_again(std::size_t node) {
  // A start that is ended half way leaves who knows what.
  const Stage::Undisturbed undisturbed(stage_);
  Status started = run(commands_.start, node, "the start command");
  if (started) down_.reset();
  return started;
}

Status NodesElsewhere::end() {
  if (!down_) return Done{};
  return start_again(*down_);
}

Status NodesElsewhere::run(const std::string& command, std::size_t node, std::string_view what) {
  std::string line = command;
  replace_all(line, "{address}", address_text(addresses_[node]));
  replace_all(line, "{restart-delay}", restart_delay_);
  const auto ended = run_to_end(stage_, {"/bin/sh", "-c", line}, commands_.output_file);
  if (!ended) return Failure{fmt::format("{} `{}` failed: {}", what, line, ended.error().text)};
  return Done{};
}

}  // namespace redlock::drill
