#include "coordinator/client/group_sockets.h"

#include "base/net/process/system_random.h"
#include "base/net/turn/clock.h"
#include "coordinator/client/holder.h"
#include "coordinator/client/node_address.h"

#include <utility>

namespace redlock::coordinator {

namespace {

Group::Options with_wall_clock(Group::Options options) {
  options.wall_clock = net::read_wall_clock;
  return options;
}

}  // namespace

GroupSockets::GroupSockets(net::Loop& loop, std::unique_ptr<net::TimerDescriptor> alarm,
                           Group::Options options, const std::vector<NodePlace>& places,
                           std::shared_ptr<net::TlsClient> tls)
    : loop_(loop),
      tls_(std::move(tls)),
      group_(
          with_wall_clock(std::move(options)), [this] { return new_lock_value(values_); },
          net::system_random_seed()),
      timer_(loop, std::move(alarm), [this] { group_.on_time(holder_now()); }) {
  for (const NodePlace& place : places) {
    const auto node = static_cast<NodeIndex>(sockets_.size());
    sockets_.push_back({group_.nodes()[node].name, make_socket(place, node)});
  }
  group_.start(holder_now());
  flush();
}

GroupSockets::~GroupSockets() = default;

// A roster may name the first node that wants TLS: it is believed as the system has it.
std::unique_ptr<LinkSocket> GroupSockets::make_socket(NodePlace place, NodeIndex node) {
  if (place.is_tls && !tls_) tls_ = net::TlsClient::make({}).value();
  LinkSocket::User& user = *this;
  return std::make_unique<LinkSocket>(loop_, std::move(place), tls_.get(), node, user);
}

// A link may have been told within this turn to dial anew, or to lead elsewhere: then what its
// connection still brings is nobody's.
bool GroupSockets::is_stale(NodeIndex node) {
  const auto& nodes = group_.nodes();
  if (node >= nodes.size() || sockets_[node].name != nodes[node].name) return true;
  return group_.link(node).has_wish();
}

void GroupSockets::on_connected(NodeIndex node) {
  if (!is_stale(node)) group_.on_connected(node, holder_now());
}

// What one operation alone has to say waits for no others, which a write could be shared with: it
// does not wait either until the answers of the slower nodes to its last question are read.
void GroupSockets::on_bytes(NodeIndex node, std::string_view bytes) {
  if (is_stale(node)) return;
  group_.on_bytes(node, bytes, holder_now());
  if (group_.operations() == 1 && !has_node_changes()) write_out();
}

void GroupSockets::on_end(NodeIndex node, std::string_view reason) {
  if (!is_stale(node)) group_.on_end(node, reason, holder_now());
}

// An address that the roster tells, as the options told theirs. One that nobody can read leads
// nowhere; that the node is not reached is told as of any other.
void GroupSockets::follow_node_changes() {
  node_changes_ = group_.node_changes();
  const auto& nodes = group_.nodes();
  sockets_.resize(nodes.size());
  for (NodeIndex node = 0; node < nodes.size(); ++node) {
    NodeSocket& socket = sockets_[node];
    if (socket.name == nodes[node].name) continue;
    socket.name = nodes[node].name;
    auto address = parse_node_address(socket.name);
    NodePlace place =
        address ? NodePlace{std::move(address->address), address->is_tls} : NodePlace();
    socket.socket = make_socket(std::move(place), node);
  }
}

void GroupSockets::flush() {
  if (has_node_changes()) follow_node_changes();
  for (NodeIndex node = 0; node < sockets_.size(); ++node) {
    switch (group_.link(node).take_wish()) {
      case Link::Wish::none:
        break;
      case Link::Wish::dial:
        sockets_[node].socket->dial();
        break;
      case Link::Wish::hang_up:
        sockets_[node].socket->hang_up();
        break;
    }
    sockets_[node].socket->set_reading(!group_.link(node).is_full());
  }
  write_out();
  // Only brought forward: each answer moves the next deadline away. A system call for each of them
  // would save one turn that has nothing to do.
  const auto next = group_.next_deadline();
  if (next && (!timer_.when() || *next < *timer_.when())) timer_.set(next);
}

// A write takes as long as the kernel needs to hand it over, so the nodes that are behind come
// last: a hung node delays no request to another.
void GroupSockets::write_out() {
  for (const bool behind : {false, true}) {
    for (NodeIndex node = 0; node < sockets_.size(); ++node) {
      Link& link = group_.link(node);
      if (link.outgoing().empty() || link.is_behind() != behind) continue;
      sockets_[node].socket->write(link.outgoing());
      link.outgoing_written();
    }
  }
}

}  // namespace redlock::coordinator
