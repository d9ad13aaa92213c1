// The nodes of a drill, which are killed and started again: processes of our own on this machine,
// or nodes elsewhere with the commands that do it.
//
// All calls wait, on the drill's stage, until what they do is done. Errors are for people.
#pragma once

#include "coordinator/client/node_address.h"
#include "coordinator/drill/world/place.h"
#include "coordinator/drill/world/stage.h"
#include "coordinator/process/local_node.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::drill {

class Nodes {
 public:
  virtual ~Nodes() = default;

  // The nodes of a half, with this restart-delay as far as it can be set: addresses() is there, and
  // every node answered when they are our own.
  virtual Status start(std::string_view restart_delay) = 0;
  // As a crash: at once. It is gone when this returns; the text tells how.
  virtual Result<std::string> kill(std::size_t node) = 0;
  // As it was started before, with what the crash left. It need not answer yet.
  virtual Status start_again(std::size_t node) = 0;
  // When it returns, nodes that the drill started are gone, and nodes of others all run again.
  virtual Status end() = 0;

  // As a client wants them, with passwords.
  virtual const std::vector<std::string>& addresses() const = 0;
  virtual bool has_restart_delay() const = 0;  // can be set by start()
};

inline constexpr std::size_t kNodes = 5;

// Five processes, in folders of their own, on ports that nobody has.
class OwnNodes : public Nodes {
 public:
  // `program`: as find_program found it. What is no redlock-node is started as redis-server is,
  // which has nothing to bootstrap and no restart delay.
  OwnNodes(Stage& stage, std::string folder, std::string program, Duration max_ttl);

  Status start(std::string_view restart_delay) override;
  Result<std::string> kill(std::size_t node) override;
  Status start_again(std::size_t node) override;
  Status end() override;
  const std::vector<std::string>& addresses() const override { return addresses_; }
  bool has_restart_delay() const override { return is_redlock_node_; }

  // Asks the program what it is; first of all.
  Status look_at_program();
  // Elsewhere than on ports of 127.0.0.1 that nobody has; before start(). A place for each.
  void stand_at(std::vector<Place> places) { places_ = std::move(places); }

  // For drills in which much happens at once (nodes_at_work.h).
  coordinator::LocalNode& process(std::size_t node) { return *nodes_[node]; }
  // As start_again, without waiting. REQUIRES: it does not run.
  void begin_again(std::size_t node);
  // Room for one more node, which does not run yet; after start(). Its number is the next one.
  Status add_place(const Place& place);
  // Another node takes its place, with a folder of its own; bootstrapped (rule R1) or not, as an
  // operator may do it. Without waiting. REQUIRES: none runs there.
  Status begin_anew(std::size_t node, bool bootstrapped);

 private:
  Status make_node(const Place& place, const std::string& folder);
  std::unique_ptr<coordinator::LocalNode> node_process(coordinator::LocalNodeSettings settings);
  Status wait_until_all(coordinator::LocalNode::State state);

  Stage& stage_;
  std::string folder_;
  std::string program_;
  Duration max_ttl_;
  bool is_redlock_node_ = false;
  std::vector<Place> places_;
  int halves_ = 0;
  int later_folders_ = 0;
  std::vector<std::string> options_;  // of each node
  std::vector<std::unique_ptr<coordinator::LocalNode>> nodes_;
  std::vector<std::string> addresses_;
};

// Nodes that run already, and shell commands that kill and start one. In both {address} stands for
// the node's address; in the command that starts it {restart-delay} for `off` or `auto`.
class NodesElsewhere : public Nodes {
 public:
  struct Commands {
    std::string kill;
    std::string start;
    std::string output_file;
  };
  // `nodes`: checked, separated by commas.
  NodesElsewhere(Stage& stage, const std::string& nodes, Commands commands);

  Status start(std::string_view restart_delay) override;
  Result<std::string> kill(std::size_t node) override;
  Status start_again(std::size_t node) override;
  Status end() override;  // also starts what is still down, whatever has happened
  const std::vector<std::string>& addresses() const override { return addresses_; }
  bool has_restart_delay() const override;

 private:
  Status run(const std::string& command, std::size_t node, std::string_view what);

  Stage& stage_;
  Commands commands_;
  std::vector<std::string> addresses_;
  std::string restart_delay_;
  std::optional<std::size_t> down_;
};

// As people read it, without the password.
std::string address_text(const std::string& address);

}  // namespace redlock::drill
