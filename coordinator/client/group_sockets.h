// GroupSockets: a Group on a loop, with its links' sockets, its timer and the holder's clock.
//
// What a turn of the loop brings together is written once per node, by flush(), and what an
// operation alone has to say at once. The open connections keep the loop running.
//
// Thread safety: none, as Loop.
#pragma once

#include "base/net/process/system_random.h"
#include "base/net/turn/loop.h"
#include "base/net/turn/timer.h"
#include "coordinator/client/link_socket.h"
#include "coordinator/group/group.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace redlock::coordinator {

class GroupSockets : private LinkSocket::User {
 public:
  // Begins to dial. places: by node. tls: nullptr where none of them wants it, and no option of it
  // is given. alarm: of the holder's clock.
  GroupSockets(net::Loop& loop, std::unique_ptr<net::TimerDescriptor> alarm, Group::Options options,
               const std::vector<NodePlace>& places, std::shared_ptr<net::TlsClient> tls);
  ~GroupSockets() override;
  GroupSockets(const GroupSockets&) = delete;
  GroupSockets& operator=(const GroupSockets&) = delete;

  Group& group() { return group_; }
  const Group& group() const { return group_; }

  // Once per turn: what the links want done, and when the group wants to be woken.
  void flush();

 private:
  void write_out();
  std::unique_ptr<LinkSocket> make_socket(NodePlace place, NodeIndex node);
  bool is_stale(NodeIndex node);
  bool has_node_changes() const { return node_changes_ != group_.node_changes(); }
  void follow_node_changes();
  void on_connected(NodeIndex node) override;
  void on_bytes(NodeIndex node, std::string_view bytes) override;
  void on_end(NodeIndex node, std::string_view reason) override;

  net::Loop& loop_;
  std::shared_ptr<net::TlsClient> tls_;  // nullptr: no node wants it so far
  net::RandomPool values_;               // the group's values
  Group group_;
  // By node: the socket, and the name of what it leads to.
  struct NodeSocket {
    std::string name;
    std::unique_ptr<LinkSocket> socket;
  };
  std::vector<NodeSocket> sockets_;
  std::uint64_t node_changes_ = 0;  // that the sockets have followed
  net::Timer timer_;                // the group's
};

}  // namespace redlock::coordinator
