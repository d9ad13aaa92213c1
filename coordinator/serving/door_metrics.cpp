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

void tell_identity(MetricsText& text, const server::Node& node) {
  text.gauge("info", "Which front door it is: always 1.");
  text.sample({{"version", kRedlockVersion}, {"run_id", node.start().run_id}}, 1);
}

class Nodes {
 public:
  Nodes(MetricsText& text, const Group& group) : text_(text), group_(group) {}

  void tell(Instant now) {
    text_.gauge("nodes", "Of the group.", group_.size());
    text_.gauge("quorum", "How many of them a lock needs.", quorum_of(group_.size()));
    gauge("node_up", "1 while the door is connected to the node and knows it.",
          [](const Link& link) { return link.is_ready() ? 1 : 0; });
    gauge("node_granting", "1 while the node grants locks: it is up, and does not recover.",
          [now](const Link& link) { return link.is_granting(now) ? 1 : 0; });
    tell_round_trips();
    gauge("node_silent_seconds", "For how long an answer is due of which nothing was heard.",
          [now](const Link& link) { return link.silence(now); });
    gauge("node_releases_owed", "Releases that the node has not answered, sent or not.",
          [](const Link& link) { return link.releases_pending(); });
    tell_votes();
  }

 private:
  void tell_round_trips() {
    text_.histogram("node_round_trip_seconds", "Of questions that did not wait behind another.");
    for (NodeIndex node = 0; node < group_.size(); ++node) {
      const std::string address = printable(group_.nodes()[node].name);
      text_.sample({{"node", address}}, group_.link(node).round_trips());
    }
  }
  void tell_votes() {
    text_.counter("votes_total", "The node's answers to those who wanted a lock; none: no vote.");
    for (NodeIndex node = 0; node < group_.size(); ++node) {
      const std::string address = printable(group_.nodes()[node].name);
      const VoteFigures& votes = group_.link(node).votes();
      text_.sample({{"node", address}, {"answer", "yes"}}, votes.yes);
      text_.sample({{"node", address}, {"answer", "no"}}, votes.no);
      text_.sample({{"node", address}, {"answer", "none"}}, votes.none);
    }
  }
  void gauge(std::string_view name, std::string_view help,
             const std::function<MetricsValue(const Link&)>& value_of) {
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
  text.sample({{"outcome", "granted"}}, stats.granted);
  text.sample({{"outcome", "held"}}, stats.refused_held);
  text.sample({{"outcome", "late"}}, stats.undone_late);
  text.sample({{"outcome", "client_gone"}}, stats.undone_gone);
  text.histogram("acquisition_seconds",
                 "From a command to its lock, with its turn behind others of the door.",
                 stats.grant_times);
  text.histogram("queue_wait_seconds",
                 "Of commands that did not have their turn at once, behind others of the door.",
                 stats.turn_waits);
  text.counter("extended_total", "Locks that were extended.", stats.extended);
  text.counter("shortened_total", "Locks that got an earlier end.", stats.shortened);
  text.counter("replaced_total", "Locks whose value was replaced.", stats.replaced);
  text.counter("released_total", "Locks that were released.", stats.released);
  text.counter("released_late_total",
               "Of them, those with less than a fifth of their TTL left, as far as it is known.",
               stats.released_late);
  text.histogram("validity_left_at_release_seconds",
                 "Of released locks, as far as it is known: what was left of their TTL.",
                 stats.left_at_release);
  text.counter("no_quorum_total", "Commands that failed, as too few nodes answered.",
               stats.no_quorum);
  text.counter("possible_total", "Commands that failed, as no quorum tells who holds the lock.",
               stats.possible);
  text.counter("readings_total", "Readings of a lock from the nodes.", stats.readings);
  text.counter("shared_total", "Commands that another one's reading or vote answered.",
               stats.shared);
  text.counter("split_votes_total", "Attempts that failed as others wanted the lock, too.",
               figures.split_votes);
  text.counter("second_rounds_total", "Locks whose token took the nodes a second round trip.",
               figures.second_rounds);
  text.counter("top_ups_total", "Requests to nodes that lacked a lock which a quorum holds.",
               figures.top_ups);
}

void tell_messages(MetricsText& text, const MessageRelay& relay) {
  const RelayFigures& figures = relay.figures();
  text.gauge("nodes_subscribed",
             "Nodes that pass on to the door what other doors' clients publish.",
             relay.subscribed_nodes());
  text.counter("messages_sent_total", "Messages of the door's clients.", figures.sent);
  text.counter("messages_received_total", "Messages of other doors' clients, each once.",
               figures.received);
  text.counter("messages_dropped_total", "Messages from a node that were told to nobody.");
  text.sample({{"cause", "repeated"}}, figures.repeated);
  text.sample({{"cause", "malformed"}}, figures.malformed);
  text.sample({{"cause", "too_many"}}, figures.too_many);
  text.counter("messages_unsent_total", "Messages that a node did not take, for each such node.",
               relay.unsent());
}

}  // namespace

std::string door_metrics(const FrontDoor& door, const Group& group, const net::TlsServer* tls,
                         Now now) {
  MetricsText text("redlock_door");
  tell_identity(text, door.node());
  Nodes(text, group).tell(now.monotonic);
  tell_locks(text, door.stats(), group.figures());
  tell_messages(text, door.relay());
  text.gauge("commands_under_way", "Commands that wait for the nodes.", door.commands_under_way());
  text.gauge("waiters", "Clients' waits for locks.", door.waiters());
  text.gauge("max_ttl_seconds", "The longest TTL that a client gets.", door.max_ttl());
  server::tell_sessions(text, door.node());
  server::tell_certificate(text, tls);
  server::tell_process(text, door.node(), now);
  return std::move(text).str();
}

}  // namespace redlock::coordinator
