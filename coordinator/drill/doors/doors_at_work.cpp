#include "coordinator/drill/doors/doors_at_work.h"

#include "base/text/duration_text.h"
#include "coordinator/drill/surroundings/relay.h"
#include "coordinator/drill/surroundings/surroundings.h"
#include "coordinator/drill/world/folder.h"

#include <utility>

#include <fmt/format.h>

namespace redlock::drill {
namespace {

constexpr Duration kDoorEndsWithin = 5s;  // then SIGKILL

}  // namespace

struct DoorsAtWork::Door {
  Door(Stage& stage, Recorder& recorder, std::size_t number, std::string its_nodes,
       std::string its_path)
      : nodes(std::move(its_nodes)),
        path(std::move(its_path)),
        process(stage, recorder, door_name(number)),
        way(stage.loop(), {.host = path}) {}

  const std::string nodes;
  const std::string path;  // of its socket
  ProcessAtWork process;
  Relay way;  // of clients to it
};

DoorsAtWork::DoorsAtWork(Stage& stage, Recorder& recorder, std::string folder,
                         ClientOptions options)
    : stage_(stage),
      recorder_(recorder),
      folder_(std::move(folder)),
      options_(std::move(options)) {}

DoorsAtWork::~DoorsAtWork() = default;

Status DoorsAtWork::add(std::string nodes) {
  const std::size_t number = doors_.size();
  const std::string way = fmt::format("{}/door-{}", folder_, number + 1);
  doors_.push_back(
      std::make_unique<Door>(stage_, recorder_, number, std::move(nodes), way + "-itself"));
  addresses_ += fmt::format("{}unix://{}", number == 0 ? "" : ",", way);
  if (auto listens = doors_.back()->way.listen({.host = way}); !listens) return listens;
  return launch(*doors_.back());
}

void DoorsAtWork::befall(const PlannedFault& fault) {
  Door& door = *doors_[fault.victim];
  if (is_of_process(fault.fault)) return door.process.befall(fault.fault);
  recorder_.tell(event_of(fault));
  if (fault.fault == Fault::slow) door.way.slow(fault.delay);
  if (fault.fault == Fault::unslow) door.way.unslow();
}

// No file of the machine's settings bears on it.
Status DoorsAtWork::launch(Door& door) {
  const coordinator::DoorTimes times = door_times(options_);
  coordinator::ProcessCommand command;
  command.words = {kThisProgram, "serve", "--config", "/dev/null"};
  const auto option = [&command](const char* name, std::string value) {
    command.words.emplace_back(name);
    command.words.push_back(std::move(value));
  };
  option("--nodes", door.nodes);
  option("--listen", door.path);
  option("--acquire-time", duration_text(times.acquire_time));
  option("--reply-time", duration_text(times.reply_time));
  option("--node-timeout", fmt::format("{}ms", floor_ms(options_.node_timeout)));
  option("--clock-drift", fmt::format("{}", times.clock_drift));
  command.words.emplace_back("--unsafe-members");  // the drill's own are as it wants them
  command.output_file = folder_ + "/doors.log";
  return door.process.start(command);
}

Status DoorsAtWork::look() {
  for (const auto& door : doors_) {
    if (door->process.ended_by_itself()) {
      return Failure{fmt::format("{} ended by itself, with status {}; the doors' log:\n{}",
                                 door->process.name(), door->process.status().as_shell_status(),
                                 text_of(folder_ + "/doors.log"))};
    }
    if (!door->process.is_to_start()) continue;
    if (auto launched = launch(*door); !launched) return launched;
  }
  return Done{};
}

void DoorsAtWork::end() {
  std::vector<ProcessAtWork*> processes;
  for (const auto& door : doors_) processes.push_back(&door->process);
  ProcessAtWork::end(stage_, processes, kDoorEndsWithin);
}

}  // namespace redlock::drill
