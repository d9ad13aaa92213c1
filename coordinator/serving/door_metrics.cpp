#include "coordinator/serving/door_metrics.h"

#include "base/text/metrics_text.h"
#include "base/text/printable.h"
#include "base/version.h"
#include "coordinator/quorum/quorum.h"
#include "server/metrics/node_metrics.h"

#include <functional>
#include <string_view>

namespace redlock::coordinator {
namespace {

double seconds(Duration d) {
  return std::chrono::duration<double>(d).count();
}

double number(std::uint64_t count) {
  return static_cast<double>(count);
}

void tell_identity(MetricsText& text, const server::Node& node, Now now) {
  text.gauge("info", "Which front door it is: always 1.");
  text.sample({{"version", kRedlockVersion}, {"run_id", node.start().run_id}}, 1);
  const Duration up_for = now.monotonic - node.start().started_at;
  text.gauge("start_time_seconds", "When it started, in seconds since 1970.",
             seconds(now.wall.time_since_epoch() - up_for));
}

class Nodes {
 public:
  Nodes(MetricsText& text, const Group& group) : text_(text), group_(group) {}

  void tell(Instant now) {
    text_.gauge("nodes", "Of the group.", number(group_.size()));
    text_.gauge("quorum", "How many of them a lock needs.", number(quorum_of(group_.size())));
    gauge("node_up", "1 while the door is connected to the node and knows it.",
          [](const Link& link) { return link.state() == Link::State::ready ? 1 : 0; });
    gauge("node_granting", "1 while the node grants locks: it is up, and does not recover.",
          [now](const Link& link) { return link.is_granting(now) ? 1 : 0; });
    gauge("node_round_trip_seconds", "Of the last question that did not wait behind another.",
          [](const Link& link) { return seconds(link.round_trip()); });
    gauge("node_silent_seconds", "For how long an answer is due of which nothing was heard.",
          [now](const Link& link) { return seconds(link.silence(now)); });
    gauge("node_releases_owed", "Releases that the node has not answered, sent or not.",
          [](const Link& link) { return number(link.releases_pending()); });
  }

 private:
  void gauge(std::string_view name, std::string_view help,
             const std::function<double(const Link&)>& value_of) {
    text_.gauge(name, help);
    for (NodeIndex node = 0; node < group_.size(); ++node) {
      const std::string address = printable(group_.nodes()[node].name);
      text_.sample({{"node", address}}, value_of(group_.link(node)));
    }
  }

  MetricsText& text_;
  const Group& group_;
};

void tell_locks(MetricsText& text, const DoorStats& stats, const GroupFigures& figures) {
  text.counter("acquisitions_total", "Attempts of clients to take a lock, by what became of them.");
  text.sample({{"outcome", "granted"}}, number(stats.granted));
  text.sample({{"outcome", "held"}}, number(stats.refused_held));
  text.sample({{"outcome", "late"}}, number(stats.undone_late));
  text.sample({{"outcome", "client_gone"}}, number(stats.undone_gone));
  text.counter("extended_total", "Locks that were extended.", number(stats.extended));
  text.counter("shortened_total", "Locks that got an earlier end.", number(stats.shortened));
  text.counter("released_total", "Locks that were released.", number(stats.released));
  text.counter("no_quorum_total", "Commands that failed, as too few nodes answered.",
               number(stats.no_quorum));
  text.counter("possible_total", "Commands that failed, as no quorum tells who holds the lock.",
               number(stats.possible));
  text.counter("readings_total", "Readings of a lock from the nodes.", number(stats.readings));
  text.counter("shared_total", "Commands that another one's reading or vote answered.",
               number(stats.shared));
  text.counter("split_votes_total", "Attempts that failed as others wanted the lock, too.",
               number(figures.split_votes));
  text.counter("top_ups_total", "Requests to nodes that lacked a lock which a quorum holds.",
               number(figures.top_ups));
}

}  // namespace

std::string door_metrics(const FrontDoor& door, const Group& group, Now now) {
  MetricsText text("redlock_door");
  tell_identity(text, door.node(), now);
  Nodes(text, group).tell(now.monotonic);
  tell_locks(text, door.stats(), group.figures());
  text.gauge("commands_under_way", "Commands that wait for the nodes.",
             number(door.commands_under_way()));
  text.gauge("waiters", "Clients' waits for locks.", number(door.waiters()));
  text.gauge("max_ttl_seconds", "The longest TTL that a client gets.", seconds(door.max_ttl()));
  server::tell_sessions(text, door.node());
  server::tell_process(text, door.node().inspect_process());
  return std::move(text).str();
}

}  // namespace redlock::coordinator
