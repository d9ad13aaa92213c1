#include "coordinator/drill/surroundings/own_network.h"

#include "base/invariant.h"
#include "base/net/text_file.h"
#include "coordinator/process/local_nodes.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace redlock::drill {
namespace {

struct Program {
  const char* name;
  const char* package;  // Debian's
};
constexpr std::array<Program, 3> kPrograms = {Program{"ip", "iproute2"}, Program{"nft", "nftables"},
                                              Program{"tc", "iproute2"}};

// The least packet that every host must take (RFC 791). Small, so that the burst that tbf cannot be
// without, one whole packet, is a few requests and not a hundred.
constexpr int kMtu = 576;
constexpr int kBurst = 640;        // an MTU and the head of its frame, rounded as tbf rounds
constexpr int kSlowedBytes = 100;  // a request or a reply, with its heads
constexpr int kWaitingMax = 20;    // of those

constexpr const char* kRules = R"(table bridge drill {
  set cut { type ipv4_addr . ipv4_addr; }
  chain forward {
    type filter hook forward priority 0;
    ip saddr . ip daddr @cut drop
  }
}
)";

std::string device_name(std::string member) {
  std::replace(member.begin(), member.end(), ' ', '-');
  return member;
}

}  // namespace

OwnNetwork::OwnNetwork(Stage& stage, std::string folder)
    : stage_(stage), folder_(std::move(folder)) {}

Status OwnNetwork::set_up(const std::vector<Member>& members) {
  if (auto found = find_programs(); !found) return found;
  if (auto made = make_bridge(); !made) return made;
  for (const Member& member : members) {
    if (auto added = add(member); !added) return added;
  }
  return look_for_netem();
}

// A user who is not root has no sbin in PATH.
Status OwnNetwork::find_programs() {
  std::vector<std::string> missing;
  for (const auto& [name, package] : kPrograms) {
    auto found = coordinator::find_program(name);
    if (!found) found = coordinator::find_program(fmt::format("/usr/sbin/{}", name));
    if (!found) missing.push_back(fmt::format("{} (package {})", name, package));
    if (found) programs_[name] = found.value();
  }
  if (missing.empty()) return Done{};
  return Failure{fmt::format("not installed: {}", fmt::join(missing, ", "))};
}

Status OwnNetwork::make_bridge() {
  auto bridge = file_with("bridge",
                          "link set lo up\n"
                          "link add name drill type bridge\n"
                          "addr add 10.0.0.1/16 dev drill\n"
                          "link set drill up\n");
  if (!bridge) return bridge.error();
  if (auto done = run({"ip", "-batch", bridge.value()}); !done) return done;
  auto rules = file_with("rules", kRules);
  if (!rules) return rules.error();
  return run({"nft", "-f", rules.value()});
}

Status OwnNetwork::add(const Member& member) {
  auto space = NetworkNamespace::make();
  if (!space) return space.error();
  const auto [at, is_new] = places_.emplace(
      member.name,
      NetworkMember{device_name(member.name), member.address, std::move(space).value()});
  INVARIANT(is_new, "each member has a name of its own");
  const NetworkMember& place = at->second;
  auto pair = file_with(
      "pair", fmt::format("link add {0} mtu {1} type veth peer name eth0 mtu {1} netns {2}\n"
                          "link set {0} master drill up\n",
                          place.device, kMtu, place.space.path()));
  if (!pair) return pair.error();
  if (auto done = run({"ip", "-batch", pair.value()}); !done) return done;
  return set_up_inside(place);
}

Status OwnNetwork::set_up_inside(const NetworkMember& place) {
  auto inside = file_with("inside", fmt::format("link set lo up\n"
                                                "addr add {}/16 dev eth0\n"
                                                "link set eth0 up\n",
                                                place.address));
  if (!inside) return inside.error();
  return run({"ip", "-batch", inside.value()}, place.space.descriptor());
}

// Tried where it does no harm: no member hangs on it.
Status OwnNetwork::look_for_netem() {
  has_netem_ = bool(run({"tc", "qdisc", "add", "dev", "drill", "root", "netem", "delay", "0ms"}));
  if (!has_netem_) return Done{};
  return run({"tc", "qdisc", "del", "dev", "drill", "root"});
}

int OwnNetwork::namespace_of(const std::string& member) const {
  return places_.at(member).space.descriptor();
}

const std::string& OwnNetwork::address_of(const std::string& member) const {
  return places_.at(member).address;
}

Status OwnNetwork::cut(const std::vector<OneWay>& ways) {
  for (const auto& [from, to] : ways) cut_.emplace(address_of(from), address_of(to));
  return write_cuts();
}

Status OwnNetwork::heal(const std::vector<OneWay>& ways) {
  for (const auto& [from, to] : ways) cut_.erase({address_of(from), address_of(to)});
  return write_cuts();
}

// All at once: nft takes a file as one transaction.
Status OwnNetwork::write_cuts() {
  std::string text = "flush set bridge drill cut\n";
  for (const auto& [from, to] : cut_) {
    text += fmt::format("add element bridge drill cut {{ {} . {} }}\n", from, to);
  }
  auto cuts = file_with("cuts", text);
  if (!cuts) return cuts.error();
  return run({"nft", "-f", cuts.value()});
}

Status OwnNetwork::slow(const std::string& member, Duration length) {
  const auto milliseconds = std::max<std::int64_t>(ceil_ms(length), 1);
  std::vector<std::string> words = {"tc",  "qdisc", "replace", "dev", places_.at(member).device,
                                    "root"};
  const auto add = [&](std::vector<std::string> more) {
    words.insert(words.end(), more.begin(), more.end());
  };
  if (has_netem_) {
    add({"netem", "delay", fmt::format("{}ms", milliseconds)});
  } else {
    constexpr std::int64_t kBitsAMillisecond = kSlowedBytes * 8 * 1000;
    add({"tbf", "rate", fmt::format("{}bit", kBitsAMillisecond / milliseconds)});
    add({"burst", std::to_string(kBurst)});
    add({"latency", fmt::format("{}ms", kWaitingMax * milliseconds)});
  }
  return run(std::move(words));
}

Status OwnNetwork::unslow(const std::string& member) {
  return run({"tc", "qdisc", "del", "dev", places_.at(member).device, "root"});
}

Status OwnNetwork::run(std::vector<std::string> words, int network_namespace) {
  const std::string line = fmt::format("{}", fmt::join(words, " "));
  words[0] = programs_.at(words[0]);
  const auto ended =
      run_to_end(stage_, std::move(words), folder_ + "/network.log", network_namespace);
  if (!ended) return Failure{fmt::format("{}: {}", line, ended.error().text)};
  return Done{};
}

Result<std::string> OwnNetwork::file_with(const std::string& name, const std::string& text) {
  std::string path = fmt::format("{}/{}", folder_, name);
  const Status written = net::write_text_file(path, text);
  if (!written) return Failure{fmt::format("{} cannot be written: {}", path, written.error().text)};
  return path;
}

}  // namespace redlock::drill
