#include "coordinator/process/local_nodes.h"

#include "base/invariant.h"
#include "base/net/sockets/listener.h"
#include "base/net/turn/clock.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

namespace redlock::coordinator {
namespace {

namespace fs = std::filesystem;

constexpr int kCountMax = 63;  // an odd number, and at most as many as a group may have
constexpr int kPortMax = 65535;

bool is_executable(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
}

}  // namespace

Result<std::string> find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    if (is_executable(name)) return fs::absolute(name).string();
    return Failure{fmt::format("{} is no program that can be executed", name)};
  }
  const char* path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? "" : path;
  while (!rest.empty()) {
    const std::size_t colon = std::min(rest.find(':'), rest.size());
    const fs::path candidate = fs::path(rest.substr(0, colon)) / name;
    if (colon > 0 && is_executable(candidate)) return candidate.string();
    rest.remove_prefix(std::min(colon + 1, rest.size()));
  }
  return Failure{fmt::format("{} was not found in PATH", name)};
}

Result<std::string> find_node_program() {
  constexpr const char* kName = "redlock-node";
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  if (!error && is_executable(self.parent_path() / kName)) {
    return (self.parent_path() / kName).string();
  }
  if (auto found = find_program(kName)) return found;
  return Failure{
      fmt::format("{} is neither beside this program nor in PATH; --node-binary says "
                  "where it is",
                  kName)};
}

LocalNodes::LocalNodes(net::Loop& loop, LocalNodesSettings settings, User& user)
    : loop_(loop),
      settings_(std::move(settings)),
      user_(user),
      settle_(loop, net::ClockKind::boottime, [this] { look(); }) {
  settle_.keep_loop_alive(false);
}

Status LocalNodes::start() {
  INVARIANT(nodes_.empty(), "a group is started once");
  if (auto checked = check_settings(); !checked) return checked;
  const auto program =
      settings_.node_program.empty() ? find_node_program() : find_program(settings_.node_program);
  if (!program) return program.error();
  if (auto checked = check_ports(); !checked) return checked;
  make_nodes(program.value());
  if (auto made = make_folders(); !made) {
    remove_made_folders();
    nodes_.clear();
    return made;
  }
  const bool is_new = made_folders_.size() == nodes_.size();
  for (const auto& node : nodes_) is_new ? node->bootstrap() : node->serve();
  if (!is_new) made_folders_.clear();
  return Done{};
}

Status LocalNodes::check_settings() const {
  if (settings_.count < 1 || settings_.count > kCountMax || settings_.count % 2 == 0) {
    return Failure{
        fmt::format("{} nodes: an odd number from 1 to {} is wanted, as a quorum is "
                    "more than half of them",
                    settings_.count, kCountMax)};
  }
  if (settings_.first_port < 1 || settings_.first_port + settings_.count - 1 > kPortMax) {
    return Failure{fmt::format("{} ports from {} on: there are none above {}", settings_.count,
                               settings_.first_port, kPortMax)};
  }
  return Done{};
}

Status LocalNodes::check_ports() {
  for (int i = 0; i < settings_.count; ++i) {
    const auto port = static_cast<std::uint16_t>(settings_.first_port + i);
    const auto ignore = [](std::unique_ptr<net::Stream>) {};
    const auto listener = net::Listener::listen(loop_, {"127.0.0.1", port}, 1, ignore);
    if (!listener) {
      return Failure{fmt::format("{}; --port chooses other ports", listener.error().text)};
    }
  }
  return Done{};
}

void LocalNodes::make_nodes(const std::string& program) {
  const fs::path folder = fs::absolute(settings_.folder);
  for (int i = 0; i < settings_.count; ++i) {
    const auto port = static_cast<std::uint16_t>(settings_.first_port + i);
    LocalNodeSettings node{program, port, folder / fmt::format("node-{}", port),
                           settings_.node_options, settings_.ready_within};
    nodes_.push_back(
        std::make_unique<LocalNode>(loop_, std::move(node), [this] { settle_soon(); }));
  }
}

Status LocalNodes::make_folders() {
  std::error_code error;
  fs::create_directories(settings_.folder, error);
  if (error) {
    return Failure{fmt::format("{} cannot be made: {}", settings_.folder, error.message())};
  }
  std::vector<std::string> new_names;
  for (const auto& node : nodes_) {
    const std::string& folder = node->settings().folder;
    if (mkdir(folder.c_str(), S_IRWXU) == 0) {
      made_folders_.push_back(folder);
      new_names.push_back(node->name());
    } else if (errno != EEXIST) {
      return Failure{fmt::format("{} cannot be made: {}", folder, std::strerror(errno))};
    }
  }
  note_new_nodes(new_names);
  return Done{};
}

// Whoever lost the folders, or starts in another folder than last time,
// is told what went with them.
void LocalNodes::note_new_nodes(const std::vector<std::string>& names) {
  if (names.size() == nodes_.size()) {
    notes_.push_back(fmt::format("a new group in {}: tokens begin at 1",
                                 fs::absolute(settings_.folder).string()));
    return;
  }
  for (const std::string& name : names) {
    notes_.push_back(
        fmt::format("{} has no folder in a group that exists: it lost its ledger, or is new. It "
                    "grants nothing until all that it may have granted before has run out; then "
                    "whoever takes a lock admits it, and from then on it gives tokens",
                    name));
  }
}

// A group that never served is as if it had never been begun: the next start makes it anew.
void LocalNodes::remove_made_folders() {
  std::error_code ignored;
  for (const std::string& folder : made_folders_) fs::remove_all(folder, ignored);
  made_folders_.clear();
}

void LocalNodes::stop() {
  stopping_ = true;
  for (const auto& node : nodes_) node->stop(settings_.killed_after);
  settle_soon();
}

std::string LocalNodes::addresses() const {
  std::string text;
  for (const auto& node : nodes_) {
    if (!text.empty()) text += ',';
    text += fmt::format("redis://127.0.0.1:{}", node->settings().port);
  }
  return text;
}

bool LocalNodes::all_are(LocalNode::State state) const {
  return std::all_of(nodes_.begin(), nodes_.end(),
                     [=](const auto& node) { return node->state() == state; });
}

bool LocalNodes::any_runs() const {
  return std::any_of(nodes_.begin(), nodes_.end(),
                     [](const auto& node) { return node->is_running(); });
}

// Nodes change inside each other's calls and ours; what follows from it is decided in one place,
// look(), called by the loop.
void LocalNodes::settle_soon() {
  settle_.keep_loop_alive(true);
  settle_.set(net::holder_now());
}

void LocalNodes::look() {
  settle_.keep_loop_alive(false);
  for (const auto& node : nodes_) {
    if (const auto failure = node->take_failure()) user_.on_node_failed(*failure);
  }
  if (!stopping_ && all_are(LocalNode::State::bootstrapped)) {
    made_folders_.clear();
    for (const auto& node : nodes_) node->serve();
  }
  if (!stopping_ && !ready_told_ && all_are(LocalNode::State::ready)) {
    ready_told_ = true;
    user_.on_ready();
  }
  if (!stopping_ || stop_told_ || any_runs()) return;
  stop_told_ = true;
  remove_made_folders();
  std::vector<std::string> unclean;
  for (const auto& node : nodes_) {
    if (!node->unclean_stop().empty()) unclean.push_back(node->unclean_stop());
  }
  user_.on_stopped(unclean);
}

}  // namespace redlock::coordinator
