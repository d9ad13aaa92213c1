// Real nodes and real clients of them in one process, without sockets: messages take a while, and
// time is the world's.
//
//   NodeWorld world;                              // five nodes, a message takes 1 ms
//   auto& alice = world.new_client();             // of all nodes; or of {1, 2, 3}
//   alice.acquire("printer", …);
//   world.run_until([&] { return …; });
//
// Nodes and clients are numbered from 1. A world of the same seed does the same.
#pragma once

#include "coordinator/group/group.h"
#include "server/commands/families.h"
#include "tests/support/node_fixture.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace redlock {

class NodeWorld {
 public:
  using Group = coordinator::Group;
  using Link = coordinator::Link;
  using NodeIndex = coordinator::NodeIndex;

  // A client: a Group, and its connections.
  class Client : public protocol::Transport {
   public:
    Group& group() { return *group_; }

   private:
    friend class NodeWorld;
    struct Link {
      std::string name;
      protocol::Session* session = nullptr;
      std::uint64_t connection = 0;  // messages of an earlier one are lost
    };
    std::optional<Group> group_;
    std::vector<Link> links_;
    std::uint64_t node_changes_ = 0;  // that the links have followed
    int values_ = 0;
  };

  // Somebody beside the clients who drives a client's group: a front door.
  class Guest {
   public:
    virtual ~Guest() = default;
    virtual void act() = 0;  // in each turn, behind what came
    virtual std::optional<Instant> next_work() const = 0;
    virtual void do_due_work() = 0;
  };
  void add(Guest& guest) { guests_.push_back(&guest); }
  Now now_of_both_clocks() const { return now_; }

  // With ledgers, each write of which is durable at once.
  enum class Ledgers : std::uint8_t { none, kept };
  explicit NodeWorld(std::size_t nodes = 5, Duration message_time = 1ms,
                     Ledgers ledgers = Ledgers::none, server::Settings settings = {})
      : message_time_(message_time), ledgers_(ledgers), settings_(std::move(settings)) {
    for (std::size_t i = 0; i < nodes; ++i) {
      hosts_.push_back(std::make_unique<Host>(start_of(i), ledgers_, settings_, now_));
    }
  }

  static std::string name_of(unsigned number) { return fmt::format("node{}:6379", number); }
  // It leads to the same node.
  static std::string other_name_of(const std::string& name) { return "public." + name; }
  static std::string id_of(unsigned number) {
    return std::string(40, "?abcdef89"[number]);  // other digits than of ledgers that were lost
  }
  // The node starts anew; without its ledger it is unfenced, and waits for `delay`.
  void lose_ledger(unsigned number, Duration delay) {
    drop_connections(number);
    server::NodeStart start = start_of(number - 1);
    start.fence.fenced = start.ledger.record.fenced = false;
    start.ledger.record.roster.ledger_id = std::string(40, static_cast<char>('0' + number));
    start.grant_from = start.admit_from = start.snapshot_from = now() + delay;
    hosts_[number - 1] = std::make_unique<Host>(std::move(start), ledgers_, settings_, now_);
  }

  Instant now() const { return now_.monotonic; }
  server::Node& node(unsigned number) { return hosts_[number - 1]->node; }
  // As CONFIG SET changes them.
  server::Settings& settings(unsigned number) { return hosts_[number - 1]->settings; }
  // A node that is hung takes messages and answers none until it goes on.
  void hang(unsigned number, bool hung = true) { hosts_[number - 1]->hung = hung; }
  // A node that refuses connections; breaks those that there are.
  void refuse(unsigned number, bool refuses = true) {
    hosts_[number - 1]->refuses = refuses;
    drop_connections(number);
  }

  // relays: as a front door's.
  Client& new_client(std::vector<unsigned> numbers = {}, bool relays = false) {
    Group::Options options;
    options.relays = relays;
    return new_client(std::move(numbers), std::move(options));
  }
  Client& new_client(const std::vector<unsigned>& numbers, Group::Options options) {
    options.wall_clock = [this] { return now_.wall; };
    for (unsigned number = 1; numbers.empty() && number <= hosts_.size(); ++number) {
      options.nodes.push_back({name_of(number), {}});
    }
    for (const unsigned number : numbers) options.nodes.push_back({name_of(number), {}});
    clients_.push_back(std::make_unique<Client>());
    Client& client = *clients_.back();
    const std::size_t number = clients_.size();
    for (const auto& node : options.nodes) client.links_.push_back({.name = node.name});
    client.group_.emplace(
        std::move(options),
        [&client, number] { return fmt::format("client{}-{}", number, ++client.values_); }, number);
    client.group_->start(now());
    return client;
  }

  // How often the nodes executed a command, all together.
  std::uint64_t calls(std::string_view command) {
    std::uint64_t calls = 0;
    for (const auto& host : hosts_) {
      for (const auto& entry : host->node.commands().entries()) {
        if (entry.command->spec.name == command) calls += entry.stats.calls;
      }
    }
    return calls;
  }

  // False: the condition did not come true within the limit.
  bool run_until(const std::function<bool()>& condition, Duration limit = 1min) {
    const Instant end = now() + limit;
    while (!condition()) {
      if (!step(end)) return false;
    }
    return true;
  }
  void pass(Duration length) {
    run_until([] { return false; }, length);
  }

 private:
  struct Host {
    server::Settings settings;
    server::CollectedLog log;
    server::Node node;
    bool hung = false;
    bool refuses = false;
    std::vector<std::function<void()>> inbox;  // while it is hung

    Host(server::NodeStart start, Ledgers ledgers, const server::Settings& wanted, Now now)
        : settings(wanted),
          node(server::all_families(), settings, std::move(start),
               {[] { return server::ProcessFacts{}; }, log, nullptr,
                ledgers == Ledgers::kept ? &page : nullptr}) {
      node.begin_run(now);
    }
    struct Page final : server::LatestDeadlinePage {
      Status write_latest_deadline(Instant) override { return Done{}; }
    } page;
    void write_ledger(Now now) {
      while (node.begin_ledger_write(now)) node.end_ledger_write(Done{}, now);
    }
  };

  server::NodeStart start_of(std::size_t index) const {
    server::NodeStart start;
    start.node_id = id_of(static_cast<unsigned>(index + 1));
    start.run_id = start.node_id;
    start.started_at = now();
    if (ledgers_ == Ledgers::none) return start;
    start.fence = {.first = 0, .bound = 100'000, .fenced = true};
    start.ledger = {.record = {start.node_id, 1, server::Settings().max_ttl, 100'000, true},
                    .latest_deadline = {},
                    .max_ttl = server::Settings().max_ttl,
                    .fence_block = 1'000,
                    .now = now()};
    return start;
  }

  Host& host_of(const Client& client, NodeIndex index) {
    for (unsigned number = 1; number <= hosts_.size(); ++number) {
      if (leads_to(client.links_[index].name, number)) return *hosts_[number - 1];
    }
    INVARIANT(false, "a name that leads nowhere");
  }
  static bool leads_to(const std::string& name, unsigned number) {
    return name == name_of(number) || name == other_name_of(name_of(number));
  }
  void drop_connections(unsigned number) {
    for (const auto& client : clients_) {
      for (NodeIndex index = 0; index < client->links_.size(); ++index) {
        const Client::Link& link = client->links_[index];
        if (!leads_to(link.name, number) || link.session == nullptr) continue;
        disconnect(*client, index);
        client->group_->on_end(index, "connection reset by peer", now());
      }
    }
  }
  // As the shell does it between two turns.
  void follow_node_changes(Client& client) {
    const auto& nodes = client.group_->nodes();
    if (client.node_changes_ == client.group_->node_changes()) return;
    client.node_changes_ = client.group_->node_changes();
    for (NodeIndex index = 0; index < client.links_.size(); ++index) {
      const bool stays = index < nodes.size() && nodes[index].name == client.links_[index].name;
      if (!stays) disconnect(client, index);
    }
    for (NodeIndex index = static_cast<NodeIndex>(client.links_.size()); index < nodes.size();
         ++index) {
      client.links_.push_back({});
    }
    client.links_.resize(nodes.size());
    for (NodeIndex index = 0; index < nodes.size(); ++index) {
      client.links_[index].name = nodes[index].name;
    }
  }

  void disconnect(Client& client, NodeIndex index) {
    Client::Link& link = client.links_[index];
    ++link.connection;
    if (link.session != nullptr) host_of(client, index).node.close_session(link.session->id());
    link.session = nullptr;
  }

  // As the shell sees it: what the link's connection still brings is nobody's.
  static bool is_stale(Client& client, NodeIndex index) {
    const auto& nodes = client.group_->nodes();
    if (index >= nodes.size() || index >= client.links_.size()) return true;
    if (client.links_[index].name != nodes[index].name) return true;
    return client.group_->link(index).has_wish();
  }

  // Something that arrives after the way, if the connection still stands then.
  void send(Client& client, NodeIndex index, std::function<void()> arrive) {
    const std::uint64_t connection = client.links_[index].connection;
    on_the_way_.emplace(now() + message_time_,
                        [&client, index, connection, arrive = std::move(arrive)] {
                          if (is_stale(client, index)) return;
                          if (client.links_[index].connection == connection) arrive();
                        });
  }

  void carry_out_wish(Client& client, NodeIndex index) {
    const Link::Wish wish = client.group_->link(index).take_wish();
    if (wish == Link::Wish::none) return;
    disconnect(client, index);
    if (wish == Link::Wish::hang_up) return;
    send(client, index, [this, &client, index] {
      Host& host = host_of(client, index);
      if (host.refuses) {
        client.group_->on_end(index, "connection refused", now());
        return;
      }
      protocol::Session& session = host.node.open_session({}, now_);
      client.links_[index].session = &session;
      session.transport = &client;
      client.group_->on_connected(index, now());
    });
  }

  void collect_from(Client& client, NodeIndex index) {
    carry_out_wish(client, index);
    Link& link = client.group_->link(index);
    if (link.outgoing().empty()) return;
    std::string bytes(link.outgoing());
    link.outgoing_written();
    send(client, index, [this, &client, index, bytes = std::move(bytes)] {
      Host& host = host_of(client, index);
      const auto read = [this, &client, &host, index, bytes] {
        if (index < client.links_.size() && client.links_[index].session != nullptr) {
          host.node.receive(*client.links_[index].session, bytes, now_);
        }
      };
      host.hung ? host.inbox.push_back(read) : read();
    });
  }

  void collect_from(Host& host) {
    host.write_ledger(now_);
    host.node.sessions().for_each_touched([&](protocol::Session& session) {
      std::string bytes(session.output().view());
      session.output().clear();
      Client& client = *static_cast<Client*>(session.transport);
      NodeIndex index = 0;
      while (client.links_[index].session != &session) ++index;
      send(client, index, [this, &client, index, bytes = std::move(bytes)] {
        client.group_->on_bytes(index, bytes, now());
      });
    });
  }

  void collect() {
    for (Guest* guest : guests_) guest->act();
    for (const auto& client : clients_) {
      follow_node_changes(*client);
      for (NodeIndex index = 0; index < client->links_.size(); ++index) {
        collect_from(*client, index);
      }
    }
    for (const auto& host : hosts_) {
      if (host->hung) continue;
      for (const auto& read : std::exchange(host->inbox, {})) read();
      collect_from(*host);
    }
  }

  std::optional<Instant> next_instant() {
    Instant next = on_the_way_.empty() ? kNever : on_the_way_.begin()->first;
    for (const auto& client : clients_) {
      next = std::min(next, client->group_->next_deadline().value_or(kNever));
    }
    for (const auto& host : hosts_) {
      if (!host->hung) next = std::min(next, host->node.next_work().value_or(kNever));
    }
    for (const Guest* guest : guests_) {
      next = std::min(next, guest->next_work().value_or(kNever));
    }
    if (next == kNever) return std::nullopt;
    return next;
  }

  // Both clocks go on together.
  void pass_to(Instant when) {
    now_.wall += when - now_.monotonic;
    now_.monotonic = when;
  }

  // To the next instant at which something happens; false: not before the end.
  bool step(Instant end) {
    collect();
    const Instant next = std::max(next_instant().value_or(kNever), now());
    if (next > end) {
      pass_to(end);
      return false;
    }
    pass_to(next);
    while (!on_the_way_.empty() && on_the_way_.begin()->first <= now()) {
      const auto arrive = on_the_way_.extract(on_the_way_.begin());
      arrive.mapped()();
    }
    for (const auto& host : hosts_) {
      const auto work = host->node.next_work();
      if (!host->hung && work && *work <= now()) host->node.do_due_work(now_);
    }
    for (Guest* guest : guests_) {
      const auto work = guest->next_work();
      if (work && *work <= now()) guest->do_due_work();
    }
    for (const auto& client : clients_) {
      const auto deadline = client->group_->next_deadline();
      if (deadline && *deadline <= now()) client->group_->on_time(now());
    }
    return true;
  }

  Now now_{Instant(24h), WallTime(std::chrono::seconds(1'700'000'000))};
  Duration message_time_;
  Ledgers ledgers_;
  const server::Settings settings_;
  std::vector<std::unique_ptr<Host>> hosts_;
  std::vector<std::unique_ptr<Client>> clients_;
  std::vector<Guest*> guests_;
  std::multimap<Instant, std::function<void()>> on_the_way_;
};

}  // namespace redlock
