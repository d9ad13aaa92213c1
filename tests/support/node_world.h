// Real nodes and real clients of them in one process, without sockets: messages take a while, and
// time is the world's.
//
//   NodeWorld world;                              // five nodes, a message takes 1 ms
//   auto& alice = world.new_client();
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
  class Client {
   public:
    Group& group() { return *group_; }

   private:
    friend class NodeWorld;
    struct Link {
      protocol::Session* session = nullptr;
      std::uint64_t connection = 0;  // messages of an earlier one are lost
    };
    std::optional<Group> group_;
    std::vector<Link> links_;
    int values_ = 0;
  };

  explicit NodeWorld(std::size_t nodes = 5, Duration message_time = 1ms)
      : message_time_(message_time) {
    for (std::size_t i = 0; i < nodes; ++i) hosts_.push_back(std::make_unique<Host>(i, now_));
  }

  Instant now() const { return now_.monotonic; }
  server::Node& node(unsigned number) { return hosts_[number - 1]->node; }
  // A node that is hung takes messages and answers none until it goes on.
  void hang(unsigned number, bool hung = true) { hosts_[number - 1]->hung = hung; }
  // A node that refuses connections; breaks those that there are.
  void refuse(unsigned number, bool refuses = true) {
    hosts_[number - 1]->refuses = refuses;
    for (const auto& client : clients_) {
      if (client->links_[number - 1].session == nullptr) continue;
      disconnect(*client, number - 1);
      client->group_->on_end(number - 1, "connection reset by peer", now());
    }
  }

  Client& new_client() {
    Group::Options options;
    for (std::size_t i = 0; i < hosts_.size(); ++i) {
      options.nodes.push_back({fmt::format("node{}:6379", i + 1), {}});
    }
    clients_.push_back(std::make_unique<Client>());
    Client& client = *clients_.back();
    const std::size_t number = clients_.size();
    client.links_.resize(hosts_.size());
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

    Host(std::size_t index, Now now)
        : node(server::all_families(), settings, start(index, now),
               {[] { return server::ProcessFacts{}; }, log, nullptr}) {
      node.begin_run(now);
    }
    static server::NodeStart start(std::size_t index, Now now) {
      server::NodeStart start;
      start.node_id = std::string(40, static_cast<char>('a' + index));
      start.run_id = start.node_id;
      start.started_at = now.monotonic;
      return start;
    }
  };

  void disconnect(Client& client, NodeIndex index) {
    Client::Link& link = client.links_[index];
    ++link.connection;
    if (link.session != nullptr) hosts_[index]->node.close_session(link.session->id());
    link.session = nullptr;
  }

  // Something that arrives after the way, if the connection still stands then.
  void send(Client& client, NodeIndex index, std::function<void()> arrive) {
    const std::uint64_t connection = client.links_[index].connection;
    on_the_way_.emplace(now() + message_time_,
                        [&client, index, connection, arrive = std::move(arrive)] {
                          if (client.links_[index].connection == connection) arrive();
                        });
  }

  void carry_out_wish(Client& client, NodeIndex index) {
    const Link::Wish wish = client.group_->link(index).take_wish();
    if (wish == Link::Wish::none) return;
    disconnect(client, index);
    if (wish == Link::Wish::hang_up) return;
    send(client, index, [this, &client, index] {
      if (hosts_[index]->refuses) {
        client.group_->on_end(index, "connection refused", now());
        return;
      }
      client.links_[index].session = &hosts_[index]->node.open_session({}, now_);
      client.links_[index].session->transport = &client;
      client.group_->on_connected(index, now());
    });
  }

  void collect_from(Client& client, NodeIndex index) {
    carry_out_wish(client, index);
    Link& link = client.group_->link(index);
    if (link.outgoing().empty()) return;
    std::string bytes(link.outgoing());
    link.outgoing_written();
    Host& host = *hosts_[index];
    send(client, index, [this, &client, &host, index, bytes = std::move(bytes)] {
      const auto read = [this, &client, &host, index, bytes] {
        if (client.links_[index].session != nullptr) {
          host.node.receive(*client.links_[index].session, bytes, now_);
        }
      };
      host.hung ? host.inbox.push_back(read) : read();
    });
  }

  void collect_from(Host& host, NodeIndex index) {
    host.node.sessions().for_each_touched([&](protocol::Session& session) {
      std::string bytes(session.output().view());
      session.output().clear();
      Client& client = *static_cast<Client*>(session.transport);
      send(client, index, [this, &client, index, bytes = std::move(bytes)] {
        client.group_->on_bytes(index, bytes, now());
      });
    });
  }

  void collect() {
    for (NodeIndex index = 0; index < hosts_.size(); ++index) {
      for (const auto& client : clients_) collect_from(*client, index);
      Host& host = *hosts_[index];
      if (host.hung) continue;
      for (const auto& read : std::exchange(host.inbox, {})) read();
      collect_from(host, index);
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
    if (next == kNever) return std::nullopt;
    return next;
  }

  // To the next instant at which something happens; false: not before the end.
  bool step(Instant end) {
    collect();
    const Instant next = std::max(next_instant().value_or(kNever), now());
    if (next > end) {
      now_.monotonic = end;
      return false;
    }
    now_.monotonic = next;
    while (!on_the_way_.empty() && on_the_way_.begin()->first <= now()) {
      const auto arrive = on_the_way_.extract(on_the_way_.begin());
      arrive.mapped()();
    }
    for (const auto& host : hosts_) {
      const auto work = host->node.next_work();
      if (!host->hung && work && *work <= now()) host->node.do_due_work(now_);
    }
    for (const auto& client : clients_) {
      const auto deadline = client->group_->next_deadline();
      if (deadline && *deadline <= now()) client->group_->on_time(now());
    }
    return true;
  }

  Now now_{Instant(24h), WallTime(std::chrono::seconds(1'700'000'000))};
  Duration message_time_;
  std::vector<std::unique_ptr<Host>> hosts_;
  std::vector<std::unique_ptr<Client>> clients_;
  std::multimap<Instant, std::function<void()>> on_the_way_;
};

}  // namespace redlock
