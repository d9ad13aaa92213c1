// DoorMatch: one sequence played to a front door over five nodes in this process, and to one node:
// what a client is told must be the same, but for what is left of a TTL, which may differ by what
// a door adds to it.
//
// Where the door refuses what it does not do, as to change a held lock's value, the node is not
// asked: then both go on from the same.
#pragma once

#include "protocol/resp/reply.h"
#include "tests/differential/generator.h"
#include "tests/differential/step.h"
#include "tests/support/door_world.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace redlock::differential {

// The commands that both serve alike.
Generator door_generator();

// The same seed, the same sequence: what the generator makes, and locks that are taken and given
// back between.
Sequence door_sequence(const Generator& generator, std::uint64_t seed, std::size_t steps);

struct DoorDifference {
  std::size_t step = 0;
  std::string door;
  std::string node;
};

class DoorMatch {
 public:
  // doors: each request goes to one of them, in turns.
  explicit DoorMatch(unsigned doors);

  std::optional<DoorDifference> play(const Sequence& sequence);
  std::uint64_t compared() const { return compared_; }

 private:
  struct Client {
    std::vector<DoorClient> doors;
    protocol::Session* node = nullptr;
    bool in_multi = false;
    unsigned turn = 0;
    std::vector<Words> queued;
  };

  Client& client(const std::string& name);
  protocol::Reply ask_door(Client& client, const Words& words);
  protocol::Reply ask_node(Client& client, const Words& words);
  std::optional<DoorDifference> play_step(const Step& step, std::size_t at);
  void pass(Duration length);

  DoorWorld world_;
  server::Settings settings_;
  server::CollectedLog log_;
  server::Node node_;
  std::map<std::string, Client> clients_;
  unsigned doors_;
  unsigned turn_ = 0;
  std::set<Client*> watchers_;
  std::uint64_t compared_ = 0;
};

}  // namespace redlock::differential
