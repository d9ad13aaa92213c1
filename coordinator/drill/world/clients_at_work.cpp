#include "coordinator/drill/world/clients_at_work.h"

#include "base/text/duration_text.h"
#include "coordinator/drill/world/history_file.h"

#include <algorithm>
#include <csignal>
#include <fstream>
#include <iterator>
#include <utility>

#include <fmt/format.h>

namespace redlock::drill {
namespace {

constexpr Duration kEndedWithin = 5s;  // after its attempt; then SIGKILL
constexpr const char* kThisProgram = "/proc/self/exe";

std::vector<std::string> command_of(const ClientProcessSettings& settings) {
  std::vector<std::string> words = {kThisProgram, "drill", "client", settings.name};
  const auto option = [&](std::string_view name, std::string value) {
    words.emplace_back(name);
    words.push_back(std::move(value));
  };
  option("--nodes", fmt::format("{}", fmt::join(settings.client.nodes, ",")));
  option("--seed", std::to_string(settings.seed));
  option("--ttl", duration_text(settings.ttl));
  option("--wait", duration_text(settings.wait));
  // Down: a third of the TTL is the most that is taken.
  option("--node-timeout", fmt::format("{}ms", floor_ms(settings.client.node_timeout)));
  option("--clock-drift", fmt::format("{}", settings.client.clock_drift));
  option("--locks", std::to_string(settings.locks));
  option("--store", settings.store);
  option("--history", settings.history_file);
  if (!settings.fence) words.emplace_back("--no-fence");
  words.emplace_back("--unsafe-members");  // the drill's own are as it wants them
  return words;
}

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

class ClientsAtWork::OneClient final : public coordinator::ChildProcess::User {
 public:
  OneClient(Stage& its_stage, ClientProcessSettings its_settings, Place its_place)
      : settings(std::move(its_settings)),
        place(std::move(its_place)),
        process(its_stage.loop(), *this),
        stage_(its_stage) {}

  bool ended_by_itself() const { return !process.is_running() && !is_down; }

  ClientProcessSettings settings;
  const Place place;
  coordinator::ChildProcess process;
  coordinator::ExitStatus status;  // once it has ended
  int processes = 0;               // that it has been so far
  bool is_down = true;             // killed, or told to end
  bool is_wanted = false;          // is to be started again
  bool is_stopped = false;

 private:
  void on_exit(const coordinator::ExitStatus& its_status) override {
    status = its_status;
    stage_.wake();
  }

  Stage& stage_;
};

ClientsAtWork::ClientsAtWork(Stage& stage, Recorder& recorder, std::string folder,
                             ClientProcessSettings settings)
    : stage_(stage),
      recorder_(recorder),
      folder_(std::move(folder)),
      settings_(std::move(settings)) {}

ClientsAtWork::~ClientsAtWork() = default;

Status ClientsAtWork::add(std::string nodes, Place place) {
  ClientProcessSettings its = settings_;
  its.name = client_name(clients_.size());
  its.client.nodes = {std::move(nodes)};
  clients_.push_back(std::make_unique<OneClient>(stage_, std::move(its), std::move(place)));
  return launch(*clients_.back());
}

void ClientsAtWork::name_nodes(std::size_t worker, std::string nodes) {
  clients_[worker]->settings.client.nodes = {std::move(nodes)};
}

Status ClientsAtWork::launch(OneClient& client) {
  ClientProcessSettings& its = client.settings;
  ++client.processes;
  its.seed = settings_.seed * 1'000'003 + history_files_.size();
  its.history_file = fmt::format("{}/history-{}.jsonl", folder_, history_files_.size() + 1);
  history_files_.push_back(its.history_file);
  // One that is ended before it came to write has a history too: an empty one.
  if (const auto file = HistoryWriter::open(its.history_file); !file) return file.error();
  client.is_down = client.is_wanted = client.is_stopped = false;
  coordinator::ProcessCommand command;
  command.words = command_of(its);
  command.output_file = folder_ + "/clients.log";
  command.environment = client.place.environment;
  command.network_namespace = client.place.network_namespace;
  if (client.processes > 1) recorder_.tell(its.name, What::started);
  if (const auto failure = client.process.start(command)) return Failure{failure->text};
  return Done{};
}

void ClientsAtWork::befall(const PlannedFault& fault) {
  OneClient& client = *clients_[fault.victim];
  switch (fault.fault) {
    case Fault::kill:
      return kill(client);
    case Fault::start:
      client.is_wanted = true;
      return;
    case Fault::stop:
      return stop(client);
    case Fault::resume:
      return resume(client);
    default:
      return;
  }
}

void ClientsAtWork::kill(OneClient& client) {
  if (client.is_down) return;
  recorder_.tell(client.settings.name, What::killed);
  client.is_down = true;
  client.process.stop(SIGKILL, 0s);
}

void ClientsAtWork::stop(OneClient& client) {
  if (client.is_down || client.is_stopped) return;
  client.is_stopped = true;
  recorder_.tell(client.settings.name, What::stopped);
  client.process.pass_on(SIGSTOP);
}

void ClientsAtWork::resume(OneClient& client) {
  if (client.is_down || !client.is_stopped) return;
  client.is_stopped = false;
  client.process.pass_on(SIGCONT);
  recorder_.tell(client.settings.name, What::continued);
}

Status ClientsAtWork::look() {
  for (const auto& client : clients_) {
    if (client->ended_by_itself()) {
      return Failure{fmt::format("{} ended by itself, with status {}; the clients' log:\n{}",
                                 client->settings.name, client->status.as_shell_status(),
                                 text_of(folder_ + "/clients.log"))};
    }
    if (!client->is_down || !client->is_wanted || client->process.is_running()) continue;
    if (auto launched = launch(*client); !launched) return launched;
  }
  return Done{};
}

Status ClientsAtWork::end() {
  const Duration within = settings_.ttl / 2 + kEndedWithin;
  std::vector<OneClient*> told;
  for (const auto& client : clients_) {
    if (client->is_down) continue;
    resume(*client);
    told.push_back(client.get());
    client->is_down = true;
    client->process.stop(SIGTERM, within);
  }
  stage_.until(
      [this] {
        return std::none_of(clients_.begin(), clients_.end(),
                            [](const auto& client) { return client->process.is_running(); });
      },
      2 * within);
  for (const OneClient* client : told) {
    // It had no time to let go of what it held.
    if (client->status.was_killed) recorder_.tell(client->settings.name, What::killed);
  }
  return Done{};
}

}  // namespace redlock::drill
