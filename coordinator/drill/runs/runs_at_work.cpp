#include "coordinator/drill/runs/runs_at_work.h"

#include "base/text/duration_text.h"
#include "coordinator/drill/world/folder.h"
#include "coordinator/drill/world/process_at_work.h"
#include "coordinator/process/child_process.h"
#include "coordinator/process/process_tree.h"

#include <algorithm>
#include <csignal>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace redlock::drill {
namespace {

using Part = PlannedFault::Part;

constexpr std::size_t kRunsMax = std::size_t{1} << 22;  // more than a day of 64 clients comes to
constexpr std::string_view kGuardName = "lock-guard";
constexpr const char* kBoardName = "/board";
// From SIGTERM to the end, where all nodes answer: the command ends at once, and what the loop has
// to say is given up after a second (rule H2), of two streams each. The rest is for a busy machine.
constexpr Duration kEndedWithin = 7s;

// The guard process of a `redlock run`, or 0.
pid_t guard_of(pid_t loop) {
  coordinator::ProcessListing listing;
  while (const pid_t pid = listing.next()) {
    coordinator::ProcessEntry entry;
    if (coordinator::read_process(pid, entry) && entry.parent == loop && entry.name == kGuardName)
      return pid;
  }
  return 0;
}

std::string milliseconds(Duration length) {
  return fmt::format("{}ms", floor_ms(length));
}

std::string lock_name(std::size_t lock) {
  return fmt::format("lock {}", lock + 1);
}

// How a run may end to which nothing was done but by way of the nodes: redlock(1), EXIT STATUS.
enum RunStatus {
  done = 0,
  no_quorum = 69,
  held = 75,
  lost = 121,
  unconfirmed = 122,
  max_hold = 124
};

bool is_of_run(int status) {
  return status == done || status == no_quorum || status == held || status == lost ||
         status == unconfirmed || status == max_hold;
}

}  // namespace

struct RunsAtWork::Run {
  std::size_t client = 0;
  std::size_t lock = 0;  // from 0
  Instant asked{};
  // From then on nothing is promised of its command: loop and guard were stopped, or killed.
  Instant uncovered_at = kNever;
};

struct RunsAtWork::Task {
  CommandKind kind = CommandKind::plain;
  Duration length{0};
  std::optional<Duration> max_hold = {};
};

class RunsAtWork::Client final : public coordinator::ChildProcess::User {
 public:
  Client(Stage& its_stage, std::size_t its_number, std::string its_nodes, Place its_place)
      : number(its_number),
        name(client_name(its_number)),
        nodes(std::move(its_nodes)),
        place(std::move(its_place)),
        loop(its_stage.loop(), *this),
        stage_(its_stage) {}

  const std::size_t number;
  const std::string name;
  const std::string nodes;
  const Place place;
  coordinator::ChildProcess loop;  // `redlock run`
  std::size_t run = 0;
  std::optional<coordinator::ExitStatus> ended;  // and not yet heard
  bool is_hit = false;  // loop or guard were killed: any end is as it should be
  bool is_stopped = false;

 private:
  void on_exit(const coordinator::ExitStatus& status) override {
    ended = status;
    stage_.wake();
  }

  Stage& stage_;
};

RunsAtWork::RunsAtWork(Stage& stage, Recorder& recorder, std::string folder,
                       ClientProcessSettings settings)
    : stage_(stage),
      recorder_(recorder),
      folder_(std::move(folder)),
      settings_(std::move(settings)),
      random_(settings_.seed) {}

RunsAtWork::~RunsAtWork() = default;

Status RunsAtWork::prepare() {
  auto board = WorkBoard::make(folder_ + kBoardName, kRunsMax);
  if (!board) return board.error();
  board_.emplace(std::move(board).value());
  auto unread = UnreadPipe::make(folder_ + "/unread");
  if (!unread) return unread.error();
  unread_.emplace(std::move(unread).value());
  return Done{};
}

Status RunsAtWork::add(std::string nodes, Place place) {
  if (clients_.empty()) {
    if (auto prepared = prepare(); !prepared) return prepared;
  }
  clients_.push_back(
      std::make_unique<Client>(stage_, clients_.size(), std::move(nodes), std::move(place)));
  return launch(*clients_.back());
}

Status RunsAtWork::launch(Client& client) {
  if (runs_.size() == board_->runs()) return Failure{"the board has room for no more runs"};
  if (std::exchange(client.is_hit, false)) recorder_.tell(client.name, What::started);
  client.is_stopped = false;
  client.run = runs_.size();
  const Run run{.client = client.number,
                .lock = random_.below(static_cast<std::uint64_t>(settings_.locks)),
                .asked = net::holder_now()};
  runs_.push_back(run);
  coordinator::ProcessCommand command;
  command.words = command_of(client, run, draw_task());
  command.output_file = client.number % 2 == 0 ? log_file() : unread_->path();
  command.environment = client.place.environment;
  command.network_namespace = client.place.network_namespace;
  recorder_.add(
      {.at = run.asked, .who = client.name, .what = What::asks, .lock = lock_name(run.lock)});
  if (const auto failure = client.loop.start(command)) return Failure{failure->text};
  return Done{};
}

// The first ones are long, so that the locks are held when the first faults come.
RunsAtWork::Task RunsAtWork::draw_task() {
  const auto ttls = [this](std::uint64_t least, std::uint64_t most) {  // in hundredths
    return settings_.ttl / 100 * static_cast<std::int64_t>(least + random_.below(most - least));
  };
  Task task;
  task.kind = kCommandKinds.at(random_.below(kCommandKinds.size()));
  const bool is_long = runs_.size() <= 2 * static_cast<std::size_t>(settings_.locks);
  task.length = is_long || random_.below(3) == 0 ? ttls(100, 400) : ttls(2, 20);
  // One that is stuck has no other end.
  const bool is_bounded = task.kind == CommandKind::blocked || random_.below(8) == 0;
  if (is_bounded) task.max_hold = std::max<Duration>(task.length / 2, 10ms);
  return task;
}

// No file of the machine's settings bears on it.
std::vector<std::string> RunsAtWork::command_of(const Client& client, const Run& run,
                                                const Task& task) const {
  std::vector<std::string> words = {kThisProgram, "run", "--config", "/dev/null"};
  const auto option = [&words](const char* name, std::string value) {
    words.emplace_back(name);
    words.push_back(std::move(value));
  };
  option("--nodes", client.nodes);
  option("--ttl", milliseconds(settings_.ttl));
  option("--wait", milliseconds(settings_.ttl / 2));
  option("--node-timeout", milliseconds(settings_.client.node_timeout));
  option("--clock-drift", fmt::format("{}", settings_.client.clock_drift));
  if (task.max_hold) option("--max-hold", milliseconds(*task.max_hold));
  if (works_on(task.kind)) words.emplace_back("--wait-all");
  if (!settings_.fence) words.emplace_back("--no-fence");
  words.emplace_back("--unsafe-members");  // the drill's own are as it wants them
  words.insert(words.end(), {lock_name(run.lock), "--", kThisProgram, "drill", "command"});
  option("--kind", std::string(name_of(task.kind)));
  option("--for", milliseconds(task.length));
  option("--store", settings_.store);
  option("--board", folder_ + kBoardName);
  option("--run", std::to_string(client.run));
  words.push_back(hold_name(client.run));
  return words;
}

void RunsAtWork::befall(const PlannedFault& fault) {
  Client& client = *clients_[fault.victim];
  if (fault.fault == Fault::kill) kill(client, fault.part);
  if (fault.fault == Fault::stop) stop(client, fault.part);
  if (fault.fault == Fault::resume) resume(client);
}

// Of both the guard is first: it would kill the command when it found its loop gone.
void RunsAtWork::kill(Client& client, Part part) {
  if (!client.loop.is_running() || client.is_hit) return;
  const pid_t guard = part == Part::loop ? 0 : guard_of(client.loop.pid());
  if (part == Part::guard && guard == 0) return;
  client.is_hit = true;
  recorder_.tell({.who = client.name,
                  .what = What::killed,
                  .why = part == Part::guard ? "its guard was" : ""});
  if (guard != 0) {
    if (part == Part::all) uncover(client);
    ::kill(guard, SIGKILL);
  }
  if (part != Part::guard) client.loop.stop(SIGKILL, 0s);
}

// Of both the loop is first: it would continue its guard.
void RunsAtWork::stop(Client& client, Part part) {
  if (!client.loop.is_running() || client.is_hit || client.is_stopped) return;
  if (part != Part::guard) {
    client.is_stopped = true;
    recorder_.tell(client.name, What::stopped);
    client.loop.pass_on(SIGSTOP);
  }
  const pid_t guard = part == Part::loop ? 0 : guard_of(client.loop.pid());
  if (guard == 0) return;
  if (part == Part::all) uncover(client);
  ::kill(guard, SIGSTOP);
}

void RunsAtWork::resume(Client& client) {
  if (!client.is_stopped || !client.loop.is_running()) return;
  client.is_stopped = false;
  if (const pid_t guard = guard_of(client.loop.pid()); guard != 0) ::kill(guard, SIGCONT);
  client.loop.pass_on(SIGCONT);
  if (!client.is_hit) recorder_.tell(client.name, What::continued);
}

void RunsAtWork::uncover(const Client& client) {
  Instant& since = runs_[client.run].uncovered_at;
  since = std::min(since, net::holder_now());
}

Status RunsAtWork::look() {
  for (const auto& client : clients_) {
    if (!client->ended) continue;
    if (auto heard = hear_end(*client); !heard) return heard;
    if (auto launched = launch(*client); !launched) return launched;
  }
  return Done{};
}

Status RunsAtWork::hear_end(Client& client) {
  const int status = std::exchange(client.ended, std::nullopt)->as_shell_status();
  if (status == held || status == no_quorum) {
    recorder_.tell({.who = client.name,
                    .what = What::refused,
                    .lock = lock_name(runs_[client.run].lock),
                    .why = status == held ? "held" : "no_quorum"});
  }
  if (client.is_hit || is_of_run(status)) return Done{};
  return Failure{fmt::format("{}: `redlock run` ended with status {}; what they said:\n{}",
                             client.name, status, text_of(log_file()))};
}

Status RunsAtWork::end() {
  if (!board_) return Done{};
  board_->end_all();
  std::vector<const Client*> told;
  for (const auto& client : clients_) {
    if (!client->loop.is_running()) continue;
    resume(*client);
    client->loop.stop(SIGTERM, kEndedWithin);
    told.push_back(client.get());
  }
  stage_.until(
      [this] {
        return std::none_of(clients_.begin(), clients_.end(),
                            [](const auto& client) { return client->loop.is_running(); });
      },
      2 * kEndedWithin);
  for (std::size_t run = 0; run < runs_.size(); ++run) tell_hold(run);
  std::string hung;
  for (const Client* client : told) {
    const bool is_ended = client->ended && (client->is_hit || !client->ended->was_killed);
    if (!is_ended) hung += fmt::format("{}{}", hung.empty() ? "" : ", ", hold_name(client->run));
  }
  if (hung.empty()) return Done{};
  return Failure{
      fmt::format("`redlock run` did not end within {} of SIGTERM, though all nodes ran: {}",
                  spoken_duration(kEndedWithin), hung)};
}

// As the board has it in the end: one that works on when its run is over is seen, too.
void RunsAtWork::tell_hold(std::size_t number) {
  const auto work = board_->work_of(number);
  if (!work) return;
  const Run& run = runs_[number];
  const bool is_uncovered = run.uncovered_at <= work->last;
  const Instant end =
      is_uncovered ? std::max(run.uncovered_at, work->first) : later(work->last, Duration(1));
  Event event{.at = work->first,
              .who = client_name(run.client),
              .what = What::acquired,
              .lock = lock_name(run.lock),
              .hold = hold_name(number),
              .asked = run.asked,
              .token = work->token,
              .valid_until = end};
  recorder_.add(event);
  event.at = end;
  event.what = is_uncovered ? What::lost : What::releases;
  if (is_uncovered) event.why = "loop and guard were stopped or killed together";
  recorder_.add(event);
}

std::string RunsAtWork::hold_name(std::size_t number) const {
  return fmt::format("{}/{}", client_name(runs_[number].client), number + 1);
}

}  // namespace redlock::drill
