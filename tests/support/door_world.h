// Front doors over real nodes, and clients of them, in one process without sockets: lines in,
// answers out, time as the world's.
//
//   DoorWorld world;                              // five nodes, one door
//   DoorClient alice = world.connect();
//   CHECK(alice("SET printer alice NX PX 10000") == "+OK");
//   world.nodes().hang(2);
//
// A client's answers are the kernel's as soon as they are there, unless its wire is_held_up.
#pragma once

#include "base/random.h"
#include "coordinator/front_door/front_door.h"
#include "tests/support/node_world.h"

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redlock {

// A release as lock libraries send it; key and value follow.
inline const std::string kReleaseCall =
    "EVAL \"if redis.call('get',KEYS[1]) == ARGV[1] then return redis.call('del',KEYS[1]) else "
    "return 0 end\" 1 ";

class DoorWorld {
 public:
  using FrontDoor = coordinator::FrontDoor;

  // A door, as its shell drives it.
  class Host final : public NodeWorld::Guest {
   public:
    Host(NodeWorld& world, unsigned number, FrontDoor::Options options)
        : world_(world),
          client_(world.new_client()),
          messages_(world.new_client({}, true)),
          random_(number) {
      FrontDoor::Environment environment{
          .inspect = [] { return server::ProcessFacts{}; },
          .log = log,
          .stopwatch = [this] { return world_.now() + (worked_ += look_takes); },
          .random =
              [this](std::span<unsigned char> bytes) {
                for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(random_());
              },
          .seed = number,
          .run_id = std::string(40, 'd'),
          .started_at = world.now()};
      door_.emplace(client_.group(), messages_.group(), std::move(options), std::move(environment));
      world.add(*this);
    }

    void act() override {
      worked_ = {};
      door_->act(world_.now_of_both_clocks(), world_.now());
      write_all();
      door_->act_behind_output(world_.now_of_both_clocks(), world_.now());
      write_all();
    }
    std::optional<Instant> next_work() const override { return door_->next_work(); }
    void do_due_work() override { door_->do_due_work(world_.now_of_both_clocks()); }

    void write_all() {
      door_->sessions().for_each_touched([&](protocol::Session& session) { write(session); });
    }
    // As the SessionServer has it.
    void write(protocol::Session& session) {
      const auto send_by = door_->send_by(session);
      const bool is_late = send_by && world_.now() > *send_by;
      Wire* wire = static_cast<Wire*>(session.transport);
      if (wire != nullptr && wire->is_held_up) return;
      if (wire == nullptr) {
        session.output().clear();
        if (!door_->has_unfinished_request(session)) door_->close_session(session.id());
        return;
      }
      if (is_late || (wire->takes_nothing && send_by)) return hang_up(session);
      if (wire->takes_nothing) return;
      const std::size_t bytes = session.output().size();
      wire->received += session.output().view();
      session.output().clear();
      door_->note_sent(session, bytes);
      door_->note_unsent(session, 0);
      if (session.is_closing()) hang_up(session);
    }
    void hang_up(protocol::Session& session) {
      Wire* wire = static_cast<Wire*>(session.transport);
      if (wire != nullptr) wire->is_open = false;
      session.transport = nullptr;
      session.client_is_gone = true;
      if (!door_->has_unfinished_request(session)) door_->close_session(session.id());
    }

    FrontDoor& door() { return *door_; }
    NodeWorld::Group& group() { return client_.group(); }
    NodeWorld::Group& message_group() { return messages_.group(); }
    server::CollectedLog log;
    Duration look_takes{};  // from one look at the stopwatch to the next of a turn

    // A connection, as its client sees it.
    struct Wire : protocol::Transport {
      std::string received;
      bool takes_nothing = false;
      bool is_held_up = false;  // the kernel is not asked to take anything yet
      bool is_open = true;
    };

   private:
    NodeWorld& world_;
    NodeWorld::Client& client_;
    NodeWorld::Client& messages_;
    Random random_;
    Duration worked_{};
    std::optional<FrontDoor> door_;
  };

  class Client {
   public:
    Client(DoorWorld& world, Host& host)
        : world_(&world),
          host_(&host),
          wire_(std::make_shared<Host::Wire>()),
          session_(host.door().open_session({}, world.nodes().now_of_both_clocks()).id()) {
      session().transport = wire_.get();
    }

    // The answer to one request, which comes within a minute, or "(none)".
    std::string operator()(std::string_view line) {
      send(line);
      return receive();
    }
    void send(std::string_view line) {
      const auto words = split_quoted_words(line);
      INVARIANT(words.has_value(), "a test's line with open quotes");
      send(*words);
    }
    void send(const std::vector<std::string>& words) {
      protocol::OutputBuffer bytes;
      const std::vector<std::string_view> views(words.begin(), words.end());
      protocol::write_request(views, bytes);
      host_->door().receive(session(), bytes.view(), world_->nodes().now_of_both_clocks());
    }
    std::string receive(Duration patience = 1min) {
      std::string answer = take();
      if (answer == "(none)") {
        wait_for_answer(patience);
        answer = take();
      }
      return wire_->is_open || answer != "(none)" ? answer : "(closed)";
    }
    // What has come by now; Kind::none: nothing.
    protocol::Reply take_reply() {
      auto parsed = protocol::parse_reply(wire_->received);
      if (parsed.state != protocol::ParsedReply::State::complete) return protocol::Reply::none();
      protocol::Reply reply = parsed.reply.owned();
      wire_->received.erase(0, parsed.consumed);
      return reply;
    }
    std::string take() {
      const protocol::Reply reply = take_reply();
      return reply.is(protocol::Reply::Kind::none) ? "(none)" : reply.to_string();
    }
    // Until there is something to take.
    void wait_for_answer(Duration patience = 1min) {
      world_->nodes().run_until(
          [&] {
            host_->act();  // what has come is acted on before time goes on
            return !wire_->received.empty() || !wire_->is_open;
          },
          patience);
    }
    void hang_up() { host_->hang_up(session()); }
    Host::Wire& wire() { return *wire_; }
    protocol::Session& session() { return *host_->door().sessions().find(session_); }
    protocol::Session::Id id() const { return session_; }

   private:
    DoorWorld* world_;
    Host* host_;
    std::shared_ptr<Host::Wire> wire_;
    protocol::Session::Id session_;
  };

  explicit DoorWorld(std::size_t nodes = 5, unsigned doors = 1, FrontDoor::Options options = {},
                     Duration message_time = 1ms, server::Settings node_settings = {})
      : nodes_(nodes, message_time, NodeWorld::Ledgers::none, std::move(node_settings)) {
    for (unsigned i = 1; i <= doors; ++i) {
      hosts_.push_back(std::make_unique<Host>(nodes_, i, options));
    }
    nodes_.pass(1s);  // the links are made
  }

  NodeWorld& nodes() { return nodes_; }
  Host& host(unsigned number = 1) { return *hosts_[number - 1]; }
  FrontDoor& door(unsigned number = 1) { return host(number).door(); }
  Client connect(unsigned door = 1) { return Client(*this, host(door)); }

  // At how many nodes the key is held.
  unsigned held_at(std::string_view key) {
    unsigned held = 0;
    for (unsigned number = 1; number <= 5; ++number) {
      if (nodes_.node(number).locks().find(key, nodes_.now()) != nullptr) ++held;
    }
    return held;
  }

 private:
  NodeWorld nodes_;
  std::vector<std::unique_ptr<Host>> hosts_;
};

using DoorClient = DoorWorld::Client;

}  // namespace redlock
