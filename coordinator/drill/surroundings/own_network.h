// OwnNetwork: a network on this machine whose lines can be cut, one direction at a time, and
// slowed. Each member, a node or a client, has a network namespace and an address of its own; the
// drill stands in the middle, reaches all of them and is never cut off:
//
//     node 1       node 2       client 1     client 2      namespaces, each with an eth0
//    10.0.1.1     10.0.1.2      10.0.2.1     10.0.2.2
//        |            |             |            |         veth pairs; what goes down one is
//     ---+------------+------+------+------------+---      slowed by tc
//                            |                             a bridge; it drops what is cut (nft)
//                        10.0.0.1: the drill
//
// Nothing of it is seen outside of the namespaces that enter_own_namespaces() made, and all of it
// goes with the last process in them, also after kill -9.
//
//   OwnNetwork network(stage, folder);
//   auto made = network.set_up({{"node 1", "10.0.1.1"}, {"client 1", "10.0.2.1"}});
//   …start processes with ProcessCommand::network_namespace = network.namespace_of("node 1")…
//   network.cut({{"node 1", "client 1"}});   // requests arrive, replies do not
//
// It does its work by ip, nft and tc. All calls wait on the drill's stage until it is done. Errors
// are for people.
#pragma once

#include "coordinator/drill/surroundings/namespaces.h"
#include "coordinator/drill/world/stage.h"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace redlock::drill {

class OwnNetwork {
 public:
  struct Member {
    std::string name;     // at most 15 bytes, as it is a device's as well
    std::string address;  // in 10.0.0.0/16; 10.0.0.1 is the drill's
  };
  struct OneWay {
    std::string from;
    std::string to;
  };

  // `folder`: for what the programs are told and say.
  OwnNetwork(Stage& stage, std::string folder);

  // Once, first of all. Fails where a program is missing, with its Debian package, or the kernel
  // can not do what is needed. REQUIRES: enter_own_namespaces() succeeded.
  Status set_up(const std::vector<Member>& members);

  int namespace_of(const std::string& member) const;
  const std::string& address_of(const std::string& member) const;

  // What one sends to the other is dropped from now on; a way that is cut already stays so.
  Status cut(const std::vector<OneWay>& ways);
  // It arrives again.
  Status heal(const std::vector<OneWay>& ways);

  // All that is sent to the member, from now on: netem holds each packet back for `length`. A
  // kernel without netem has tbf, which lets as much pass as makes a packet of 100 bytes take
  // `length` once packets follow each other, and drops what would wait for longer than 20 such.
  Status slow(const std::string& member, Duration length);
  Status unslow(const std::string& member);
  bool has_netem() const { return has_netem_; }

 private:
  struct NetworkMember {
    std::string device;  // the end of its veth pair that is at the bridge
    std::string address;
    NetworkNamespace space;
  };

  Status find_programs();
  Status make_bridge();
  Status add(const Member& member);
  Status set_up_inside(const NetworkMember& place);
  Status look_for_netem();
  Status write_cuts();

  // Runs ip, nft or tc.
  Status run(std::vector<std::string> words, int network_namespace = -1);
  Result<std::string> file_with(const std::string& name, const std::string& text);

  Stage& stage_;
  std::string folder_;
  std::map<std::string, std::string, std::less<>> programs_;  // paths
  std::map<std::string, NetworkMember, std::less<>> places_;
  std::set<std::pair<std::string, std::string>> cut_;  // addresses: from, to
  bool has_netem_ = false;
};

}  // namespace redlock::drill
