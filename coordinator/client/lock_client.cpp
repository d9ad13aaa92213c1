#include "coordinator/client/lock_client.h"

#include "base/net/process/system_random.h"

#include <array>
#include <utility>

namespace redlock::coordinator {
namespace {

Group::Options group_options(const LockClient::Options& options) {
  Group::Options group{.nodes = {},
                       .node_timeout = options.node_timeout,
                       .clock_drift = options.clock_drift,
                       .hear_everyone = options.hear_everyone,
                       .admit_unfenced = options.admit_unfenced};
  for (const NodeAddress& node : options.nodes) {
    group.nodes.push_back({node.text(), node.credentials});
  }
  return group;
}

}  // namespace

std::string new_lock_value() {
  constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::array<unsigned char, 18> bytes{};
  net::system_random(bytes);
  std::string value;
  value.reserve(bytes.size() / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const unsigned group = (static_cast<unsigned>(bytes[i]) << 16) |
                           (static_cast<unsigned>(bytes[i + 1]) << 8) | bytes[i + 2];
    for (const int shift : {18, 12, 6, 0}) value += kAlphabet[(group >> shift) & 63];
  }
  return value;
}

ClockReading read_holder_clocks() {
  // A pause between the two readings makes the pair useless to compare with: take another then.
  constexpr int kTries = 8;
  constexpr Duration kCloseEnough = 1ms;
  ClockReading reading{};
  for (int i = 0; i < kTries; ++i) {
    reading.boottime = net::read_clock(net::ClockKind::boottime);
    reading.monotonic = net::read_clock(net::ClockKind::monotonic);
    if (net::read_clock(net::ClockKind::boottime) - reading.boottime < kCloseEnough) break;
  }
  return reading;
}

LockClient::LockClient(net::Loop& loop, Options options)
    : LockClient(loop, net::TimerDescriptor::demand(loop, net::ClockKind::boottime),
                 std::move(options)) {}

LockClient::LockClient(net::Loop& loop, std::unique_ptr<net::TimerDescriptor> timer,
                       Options options)
    : group_(group_options(options), new_lock_value, net::system_random_seed()),
      timer_(loop, std::move(timer), [this] { group_.on_time(now()); }),
      turn_(loop, [this] { flush(); }) {
  NodeLink::User& user = *this;
  for (NodeIndex node = 0; node < options.nodes.size(); ++node) {
    links_.push_back(std::make_unique<NodeLink>(loop, options.nodes[node].address, node, user));
  }
  group_.start(now());
  flush();
}

OperationId LockClient::when_ready(std::function<void()> done) {
  return group_.when_ready(now(), std::move(done));
}

OperationId LockClient::acquire(AcquireRequest request, std::function<void(AcquireResult)> done) {
  return group_.acquire(std::move(request), now(), std::move(done));
}

OperationId LockClient::extend(const HeldLock& lock, std::function<void(ExtendResult)> done) {
  return group_.extend(lock, now(), std::move(done));
}

OperationId LockClient::release(const HeldLock& lock, std::function<void(ReleaseResult)> done) {
  return group_.release(lock, now(), std::move(done));
}

OperationId LockClient::survey(std::span<const RequestKind> questions, std::string name,
                               std::function<void(std::vector<NodeFinding>)> done) {
  return group_.survey(questions, std::move(name), now(), std::move(done));
}

OperationId LockClient::admit(OperatorsFloor by_operator, std::function<void(AdmitResult)> done) {
  return group_.admit(by_operator, now(), std::move(done));
}

// What one operation alone has to say waits for no others, which a write could be shared with: it
// does not wait either until the answers of the slower nodes to its last question are read.
void LockClient::on_bytes(NodeIndex node, std::string_view bytes) {
  group_.on_bytes(node, bytes, now());
  if (group_.operations() == 1) write_out();
}

// Once per turn: what the links want done, and when the group wants to be woken.
void LockClient::flush() {
  for (NodeIndex node = 0; node < links_.size(); ++node) {
    switch (group_.link(node).take_wish()) {
      case Pipeline::Wish::none:
        break;
      case Pipeline::Wish::dial:
        links_[node]->dial();
        break;
      case Pipeline::Wish::hang_up:
        links_[node]->hang_up();
        break;
    }
  }
  write_out();
  timer_.set(group_.next_deadline());
}

// A write takes as long as the kernel needs to hand it over, so the nodes that are behind come
// last: a hung node delays no request to another.
void LockClient::write_out() {
  for (const bool behind : {false, true}) {
    for (NodeIndex node = 0; node < links_.size(); ++node) {
      Pipeline& link = group_.link(node);
      if (link.outgoing().empty() || link.is_behind() != behind) continue;
      links_[node]->write(link.outgoing());
      link.outgoing_written();
    }
  }
}

}  // namespace redlock::coordinator
