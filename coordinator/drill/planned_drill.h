// PlannedDrill: clients lock, work and let go for a given time, while a plan that a seed makes
// comes true (faults.h): nodes and clients are killed, stopped and restarted, and in their
// surroundings the network falls apart or clocks jump. Everything is real: five node processes,
// client processes with the public library, a store that checks tokens. What comes of it is a
// history; whoever reads it judges.
//
//   PlannedDrill drill(stage, folder, settings, surroundings);
//   if (auto made = drill.begin(); !made) …
//   auto played = drill.play(on_turn);  // until its time is over, or it is interrupted
//   drill.end();                        // in any case
//   judge(drill.history_files())
#pragma once

#include "coordinator/drill/changes/changes_at_work.h"
#include "coordinator/drill/clients/clients_at_work.h"
#include "coordinator/drill/doors/doors_at_work.h"
#include "coordinator/drill/plan/chaos_plan.h"
#include "coordinator/drill/plan/faults.h"
#include "coordinator/drill/surroundings/surroundings.h"
#include "coordinator/drill/world/node_watch.h"
#include "coordinator/drill/world/nodes.h"
#include "coordinator/drill/world/nodes_at_work.h"
#include "coordinator/drill/world/recorder.h"
#include "coordinator/drill/world/stage.h"
#include "coordinator/drill/world/store.h"
#include "coordinator/drill/world/workers.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace redlock::drill {

template <class T>
std::unique_ptr<Workers> make_workers(Stage& stage, Recorder& recorder, const std::string& folder,
                                      const ClientProcessSettings& settings) {
  return std::make_unique<T>(stage, recorder, folder, settings);
}

struct PlannedDrillSettings {
  std::string name;  // of the drill: "chaos"
  std::vector<PlannedFault> (*plan)(const PlanTerms& terms) = plan_faults;
  decltype(&make_workers<ClientsAtWork>) make_clients = make_workers<ClientsAtWork>;
  std::string node_program;  // as find_program found it
  Duration length = 1min;
  std::uint64_t seed = 1;
  std::size_t clients = 16;
  int locks = 8;
  Duration ttl = 2s;
  ClientOptions client = {};  // of each client, but for the nodes
  bool has_line = false;      // some clients stand in line (client_process.h), where no doors are
  // The nodes are a group, which changes meanwhile (changes_at_work.h). The plan's faults befall
  // whoever is a member by then.
  bool has_changes = false;
  // Front doors between clients and nodes, which the faults of clients' ways to nodes befall then;
  // 0: none. `naive`: what uses them knows nothing of tokens (door_user.h).
  std::size_t doors = 0;
  bool naive = false;

  std::vector<PlannedFault> planned() const {
    return plan({.seed = seed,
                 .length = length,
                 .ttl = ttl,
                 .nodes = kNodes,
                 .clients = clients,
                 .doors = doors});
  }
  // What nodes are asked to keep a lock for at most.
  Duration nodes_max_ttl() const {
    return doors == 0 ? ttl : coordinator::padded(ttl, door_times(client));
  }
};

// How far it is, for whoever watches.
struct PlannedDrillProgress {
  Duration passed{0};
  std::size_t node_faults = 0;
  std::size_t door_faults = 0;
  std::size_t client_faults = 0;
  std::size_t changes = 0;  // of the group, done
  std::size_t holds = 0;    // in which a client came to write
  std::size_t writes = 0;
  std::size_t refused_writes = 0;
};

class PlannedDrill {
 public:
  // REQUIRES: nobody else uses the folder, and it outlives the drill; the surroundings' set_up()
  // has succeeded.
  PlannedDrill(Stage& stage, const std::string& folder, PlannedDrillSettings settings,
               Surroundings& surroundings);

  // Starts the nodes and the clients. The error says what is wrong on this machine.
  Status begin();
  // Lets the plan come true. An error: the drill could not go on, so it shows nothing. on_turn is
  // called some times a second.
  Status play(const std::function<void(const PlannedDrillProgress&)>& on_turn);
  // Ends every process, cleanly where it can.
  Status end();

  // In the order in which parse_history wants them: the one with the header first. None before
  // there are clients.
  std::vector<std::string> history_files() const;

 private:
  std::string own_history() const { return folder_ + "/history.jsonl"; }
  Status start_doors();
  Status start_clients();
  Status form_group();
  Status wait_for_work();
  void tell_header();
  void on_write(const StoreWrite& write, bool accepted);
  Status go_on_until(Duration at, const std::function<void(const PlannedDrillProgress&)>& on_turn);
  Status befall(std::span<const PlannedFault> faults);
  PlannedFault at_member(PlannedFault fault);
  void befall_process(const PlannedFault& fault);
  void befall_client(const PlannedFault& fault);
  std::string nodes_for_next(std::size_t client) const;
  void resume_overtaken();
  bool was_every_lock_taken_since(Duration when) const;
  // A redlock-node: plain Redis has none. Nor have naive users.
  bool has_tokens() const { return nodes_.has_restart_delay() && !settings_.naive; }
  Duration passed() const { return stage_.elapsed() - began_; }

  Stage& stage_;
  const std::string folder_;
  const PlannedDrillSettings settings_;
  Surroundings& surroundings_;
  OwnNodes nodes_;
  std::optional<Recorder> recorder_;
  std::optional<NodesAtWork> nodes_at_work_;
  std::optional<Store> store_;
  std::optional<DoorsAtWork> doors_;
  std::unique_ptr<Workers> clients_;
  std::optional<ChangesAtWork> changes_;
  std::optional<NodeWatch> watch_;

  Duration began_{0};
  PlannedDrillProgress progress_;
  std::map<std::string, std::string> last_hold_;  // of a client
  std::map<std::size_t, std::size_t> struck_;     // the place of the plan's victim, until it ends

  // By the stage's time, which begins before the first fault, as the first writes do.
  //
  // The largest token that the store has seen of a lock, and when it saw it first.
  struct LatestToken {
    std::uint64_t token = 0;
    Duration seen_at{0};
  };
  std::map<std::string, LatestToken> latest_tokens_;  // by lock

  // A client that goes on once what it held has its next holder.
  struct Pause {
    PlannedFault resume;
    Duration ran_out_at;  // all that it held
    Duration ends_by;     // whether or not
  };
  std::vector<Pause> pauses_;
  std::map<std::size_t, Duration> stopped_at_;  // by client
};

}  // namespace redlock::drill
