// RestartDrill: the classic story against Redlock, on real nodes. A holds a lock on just a quorum,
// three of five; one of the three is killed and started again; then B tries.
//
// A node that forgot the lock and grants at once makes B a second quorum: the killed one and the
// two that A never reached. A still counts on its validity, so there are two holders. A node that
// waits out its restart delay (safety.md R) refuses B until A's lock has run out.
//
// A reaches three nodes only because its addresses of the others lead nowhere, to sockets that are
// not there, as a network that is cut: no node is disturbed by it. A and B are clients as any
// program has them (redlock/client.h); whoever looks at what each node holds is a third.
#pragma once

#include "coordinator/drill/report.h"
#include "coordinator/drill/world/nodes.h"
#include <redlock/client.h>

#include <optional>
#include <string>
#include <vector>

namespace redlock::drill {

struct RestartDrillSettings {
  Duration ttl = 3s;
  ClientOptions client = {};  // of A and B, but for the nodes
  std::string empty_folder;   // where A's addresses of the nodes that it cannot reach lead to
};

class RestartDrill {
 public:
  // The story is told twice; each half shows what one restart delay leads to.
  enum class Half {
    violation,  // restart-delay off: two holders
    refusal,    // restart-delay auto: B waits until A's lock has run out
  };

  RestartDrill(Stage& stage, Nodes& nodes, StepReport& report, RestartDrillSettings settings);

  // Tells one half. False if anything was not as told, or it was interrupted.
  bool tell(Half half);

 private:
  // The steps: false ends the half early, as what follows could not be told.
  bool steps();
  bool nodes_serve();
  bool a_acquires();
  bool kill_one();
  bool start_it_again();
  bool b_tries();
  bool b_waits();
  bool it_grants_again();
  void put_away();

  // What the clients are asked; nullopt if the drill was interrupted, or no answer came in time.
  Client client(const std::vector<std::string>& addresses);
  bool make_ready(Client& client);
  std::optional<Result<Lock, Error>> acquire(Client& client, Duration wait);
  std::optional<std::vector<NodeState>> ask_states();
  std::vector<NodeSaid> ask_holders();
  using HolderAnswer = std::optional<Result<std::optional<Holder>, Error>>;
  HolderAnswer ask_holder(std::size_t node);
  // Until it answers, or says that it is recovering.
  bool await_node(std::size_t node);

  std::string holder_text(const HolderAnswer& told) const;
  std::vector<NodeSaid> answers(const Error& error) const;
  std::string killed_node() const;
  bool b_holds(const Lock& lock);
  void differs(std::string text);
  bool fails(const std::string& what, const std::string& why);

  std::size_t count() const { return nodes_.addresses().size(); }

  Stage& stage_;
  Nodes& nodes_;
  StepReport& report_;
  RestartDrillSettings settings_;

  Half half_ = Half::violation;
  std::string name_;        // of the lock
  std::size_t killed_ = 0;  // index of the node that is killed: the last that A reaches
  std::optional<Client> a_;
  std::optional<Client> b_;
  std::optional<Lock> a_lock_;
  std::optional<Lock> b_lock_;
  Duration b_began_{0};
  std::vector<std::string> differences_;
};

}  // namespace redlock::drill
