#include "coordinator/drill/clients/clients_at_work.h"

#include "base/text/duration_text.h"
#include "coordinator/drill/world/folder.h"
#include "coordinator/drill/world/history_file.h"

#include <utility>

#include <fmt/format.h>

namespace redlock::drill {
namespace {

// Of so many clients one stands in line. It has time for some sixty holdings of those before it.
constexpr std::size_t kPerLine = 4;
constexpr int kTtlsInLine = 2;

constexpr Duration kEndedWithin = 5s;  // after its attempt; then SIGKILL

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
  if (settings.in_line) words.emplace_back("--in-line");
  if (!settings.fence) words.emplace_back("--no-fence");
  if (settings.reply_time > 0s)
    words.insert(words.end(), {"--reply-time", duration_text(settings.reply_time)});
  words.emplace_back("--unsafe-members");  // the drill's own are as it wants them
  return words;
}

}  // namespace

struct ClientsAtWork::OneClient {
  OneClient(Stage& stage, Recorder& recorder, ClientProcessSettings its, Place where)
      : settings(std::move(its)),
        place(std::move(where)),
        process(stage, recorder, settings.name) {}

  ClientProcessSettings settings;
  const Place place;
  ProcessAtWork process;
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
  its.in_line = settings_.in_line && clients_.size() % kPerLine == kPerLine - 1;
  if (its.in_line) its.wait = kTtlsInLine * settings_.ttl;
  clients_.push_back(
      std::make_unique<OneClient>(stage_, recorder_, std::move(its), std::move(place)));
  return launch(*clients_.back());
}

void ClientsAtWork::name_nodes(std::size_t worker, std::string nodes) {
  clients_[worker]->settings.client.nodes = {std::move(nodes)};
}

Status ClientsAtWork::launch(OneClient& client) {
  ClientProcessSettings& its = client.settings;
  its.seed = settings_.seed * 1'000'003 + history_files_.size();
  its.history_file = fmt::format("{}/history-{}.jsonl", folder_, history_files_.size() + 1);
  history_files_.push_back(its.history_file);
  // One that is ended before it came to write has a history too: an empty one.
  if (const auto file = HistoryWriter::open(its.history_file); !file) return file.error();
  coordinator::ProcessCommand command;
  command.words = command_of(its);
  command.output_file = folder_ + "/clients.log";
  command.environment = client.place.environment;
  command.network_namespace = client.place.network_namespace;
  return client.process.start(command);
}

void ClientsAtWork::befall(const PlannedFault& fault) {
  clients_[fault.victim]->process.befall(fault.fault);
}

Status ClientsAtWork::look() {
  for (const auto& client : clients_) {
    if (client->process.ended_by_itself()) {
      return Failure{fmt::format("{} ended by itself, with status {}; the clients' log:\n{}",
                                 client->settings.name, client->process.status().as_shell_status(),
                                 text_of(folder_ + "/clients.log"))};
    }
    if (!client->process.is_to_start()) continue;
    if (auto launched = launch(*client); !launched) return launched;
  }
  return Done{};
}

Status ClientsAtWork::end() {
  std::vector<ProcessAtWork*> processes;
  for (const auto& client : clients_) processes.push_back(&client->process);
  Duration attempt_max = settings_.wait;
  for (const auto& client : clients_) attempt_max = std::max(attempt_max, client->settings.wait);
  ProcessAtWork::end(stage_, processes, attempt_max + kEndedWithin);
  return Done{};
}

}  // namespace redlock::drill
