// What a front door tells of itself: INFO, LOCK.STATUS.
#include "base/text/info_text.h"
#include "base/text/printable.h"
#include "base/text/words.h"
#include "base/version.h"
#include "coordinator/front_door/front_door.h"
#include "coordinator/quorum/quorum.h"
#include "server/commands/info.h"
#include "server/commands/replies.h"

#include <algorithm>

#include <fmt/format.h>

namespace redlock::coordinator {

using protocol::Reply;
using server::number_reply;

namespace {

// Of a node's sections those that mean something here; the clients that read one of the others
// before they connect are told what they want.
constexpr std::string_view kNodesSections[] = {"server",      "clients",    "memory",
                                               "persistence", "stats",      "replication",
                                               "cpu",         "errorstats", "cluster"};
constexpr std::string_view kLongSection = "commandstats";

bool is_one_of(protocol::Request names, std::string_view name) {
  return std::any_of(names.begin(), names.end(),
                     [&](std::string_view other) { return equals_ignoring_case(name, other); });
}

bool is_wanted(protocol::Request sections, std::string_view name) {
  return sections.empty() || is_one_of(sections, name) || is_one_of(sections, "default") ||
         is_one_of(sections, "all") || is_one_of(sections, "everything");
}

std::string_view state_name(const Link& link, Instant now) {
  switch (link.state()) {
    case Link::State::ready:
      return link.is_granting(now) ? "ready" : "recovering";
    case Link::State::backing_off:
      return "unreachable";
    default:
      return "connecting";
  }
}

}  // namespace

std::string FrontDoor::door_section(Now now) const {
  std::size_t granting = 0;
  std::size_t plain = 0;
  for (NodeIndex node = 0; node < group_.size(); ++node) {
    const Link& link = group_.link(node);
    if (link.is_granting(now.monotonic)) ++granting;
    if (link.is_plain_redis()) ++plain;
  }
  InfoText text;
  text.begin("FrontDoor")
      .field("nodes", group_.size())
      .field("quorum", quorum_of(group_.size()))
      .field("nodes_ready", group_.ready_links())
      .field("nodes_granting", granting)
      .field("acquire_time_ms", ceil_ms(times_.acquire_time))
      .field("reply_time_ms", ceil_ms(times_.reply_time))
      .field("clock_drift", fmt::to_string(times_.clock_drift))
      .field("max_ttl_ms", floor_ms(settings_.max_ttl))
      .field("front_door_over_plain_redis", plain > 0 ? "yes" : "no");
  return text.take();
}

std::string FrontDoor::locks_section() const {
  InfoText text;
  text.begin("Locks")
      .field("granted", stats_.granted)
      .field("refused_held", stats_.refused_held)
      .field("extended", stats_.extended)
      .field("shortened", stats_.shortened)
      .field("replaced", stats_.replaced)
      .field("released", stats_.released)
      .field("released_late", stats_.released_late)
      .field("topped_up", group_.figures().top_ups)
      .field("undone_late", stats_.undone_late)
      .field("undone_gone", stats_.undone_gone)
      .field("no_quorum", stats_.no_quorum)
      .field("possible", stats_.possible)
      .field("splits", group_.figures().split_votes)
      .field("second_rounds", group_.figures().second_rounds)
      .field("runs", stats_.runs)
      .field("runs_again", stats_.runs_again)
      .field("readings", stats_.readings)
      .field("shared", stats_.shared)
      .field("under_way", commands_.count())
      .field("lines", commands_.lines())
      .field("waiters", waiting_.count())
      .field("known", known_.size());
  return text.take();
}

std::string FrontDoor::nodes_section(Now now) const {
  InfoText text;
  text.begin("Nodes");
  for (NodeIndex node = 0; node < group_.size(); ++node) {
    const Link& link = group_.link(node);
    text.field(
        fmt::format("node{}", node),
        fmt::format("addr={},state={},rtt_us={},silent_ms={},owed={},fenced={},max_ttl_ms={}",
                    printable(group_.nodes()[node].name), state_name(link, now.monotonic),
                    link.round_trip() / 1us, floor_ms(link.silence(now.monotonic)),
                    link.releases_pending(), link.facts().status.fenced ? 1 : 0,
                    floor_ms(link.facts().status.max_ttl)));
  }
  return text.take();
}

std::string FrontDoor::messages_section() const {
  const RelayFigures& figures = relay_.figures();
  InfoText text;
  text.begin("Messages")
      .field("nodes_subscribed", relay_.subscribed_nodes())
      .field("relayed_out", figures.sent)
      .field("relayed_in", figures.received)
      .field("dropped_repeated", figures.repeated)
      .field("dropped_malformed", figures.malformed)
      .field("dropped_too_many", figures.too_many)
      .field("unsent_to_a_node", relay_.unsent());
  return text.take();
}

Reply FrontDoor::info(server::Call& call) {
  const protocol::Request sections = call.words.subspan(1);
  std::vector<std::string_view> nodes;
  for (const std::string_view name : kNodesSections) {
    if (is_wanted(sections, name)) nodes.push_back(name);
  }
  const bool wants_all = is_one_of(sections, "all") || is_one_of(sections, "everything");
  if (wants_all || is_one_of(sections, kLongSection)) nodes.push_back(kLongSection);
  InfoText text;
  if (!nodes.empty()) text.add(server::info_text(node_, nodes, call.now));
  const auto add = [&](std::string_view name, const std::string& section) {
    if (is_wanted(sections, name)) text.add(section);
  };
  add("frontdoor", door_section(call.now));
  add("locks", locks_section());
  add("messages", messages_section());
  add("nodes", nodes_section(call.now));
  return Reply::verbatim(text.take());
}

Reply FrontDoor::lock_status(server::Call& call) {
  Reply nodes = Reply::array();
  for (NodeIndex node = 0; node < group_.size(); ++node) {
    const Link& link = group_.link(node);
    Reply map = Reply::map({});
    map.add_field("address", Reply::bulk(printable(group_.nodes()[node].name)))
        .add_field("state", Reply::bulk_view(state_name(link, call.now.monotonic)))
        .add_field("releases_owed", number_reply(link.releases_pending()));
    nodes.add(std::move(map));
  }
  Reply map = Reply::map({});
  map.add_field("state", Reply::bulk_view(is_stopping_ ? "stopping" : "front door"))
      .add_field("nodes", number_reply(group_.size()))
      .add_field("quorum", number_reply(quorum_of(group_.size())))
      .add_field("max_ttl_ms", Reply::integer(floor_ms(settings_.max_ttl)))
      .add_field("acquire_time_ms", Reply::integer(ceil_ms(times_.acquire_time)))
      .add_field("reply_time_ms", Reply::integer(ceil_ms(times_.reply_time)))
      .add_field("waiters", number_reply(waiting_.count()))
      .add_field("version", Reply::bulk_view(kRedlockVersion))
      .add_field("node", std::move(nodes));
  return map;
}

}  // namespace redlock::coordinator
