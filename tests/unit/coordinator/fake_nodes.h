// A Group and five nodes in one process, without sockets: what the tests of Group talk to.
//
//   FakeNodes world;
//   world.node(2).hung = true;          // nodes are numbered from 1
//   auto got = world.acquire("printer");
//   CHECK(world.log(1) == "SET printer v1 NX PX 30000");
//
// A hung node takes bytes and answers when it is let go on; a node that is down refuses.
#pragma once

#include "base/number.h"
#include "coordinator/group.h"
#include "coordinator/scripts.h"
#include "protocol/reply_parser.h"
#include "protocol/reply_writer.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace redlock::coordinator {

class FakeNode {
 public:
  bool hung = false;
  bool down = false;
  bool recovering = false;
  bool knows_hello = true;
  std::string id;
  std::string password;
  std::string log;  // the commands of locks, in order, with "; " between them
  std::size_t requests = 0;

  bool connected = false;
  std::string inbox;

  // A new connection, unless it is down.
  void accept() {
    connected = !down;
    authenticated_ = false;
    version_ = protocol::Version::resp2;
  }

  bool holds(const std::string& key, Instant now) { return value_of(key, now) != nullptr; }

  // Answers everything in the inbox.
  std::string serve(Instant now) {
    protocol::OutputBuffer out;
    while (!inbox.empty()) {
      auto parsed = protocol::parse_reply(inbox);
      INVARIANT(parsed.state == protocol::ParsedReply::State::complete, "half a request");
      inbox.erase(0, parsed.consumed);
      std::vector<std::string> words;
      for (const auto& word : parsed.reply.items()) words.emplace_back(word.text());
      const protocol::Reply reply = execute(words, now);
      protocol::write_reply(reply, version_, out);
    }
    return std::string(out.view());
  }

 private:
  struct Key {
    std::string value;
    Instant deadline;
  };

  std::string* value_of(const std::string& key, Instant now) {
    const auto found = keys_.find(key);
    if (found == keys_.end() || found->second.deadline <= now) return nullptr;
    return &found->second.value;
  }

  protocol::Reply execute(const std::vector<std::string>& words, Instant now) {
    using protocol::Reply;
    ++requests;
    if (words[0] == "HELLO") return hello(words);
    if (words[0] == "AUTH") return authenticate(words) ? Reply::ok() : wrong_password();
    if (!password.empty() && !authenticated_) {
      return Reply::error("NOAUTH Authentication required.");
    }
    if (words[0] == "LOCK.STATUS") return Reply::error("ERR unknown command 'LOCK.STATUS'");
    if (words[0] == "INFO") {
      return Reply::bulk(fmt::format("# Server\r\nmaster_run_id:x\r\nrun_id:{}\r\nport:1\r\n", id));
    }
    note(words);
    if (words[0] == "GET") {
      const std::string* value = value_of(words[1], now);
      return value == nullptr ? Reply::null() : Reply::bulk(*value);
    }
    if (words[0] == "SET") return set(words, now);
    return script(words, now);
  }

  protocol::Reply hello(const std::vector<std::string>& words) {
    using protocol::Reply;
    if (!knows_hello) return Reply::error("ERR unknown command `HELLO`, with args beginning with:");
    const bool has_password = words.size() > 2;
    if (has_password && !authenticate(words)) return wrong_password();
    version_ = protocol::Version::resp3;
    Reply greeting = Reply::map({});
    greeting.add_field("proto", Reply::integer(3));
    return greeting;
  }

  bool authenticate(const std::vector<std::string>& words) {
    authenticated_ = words.back() == password;
    return authenticated_;
  }

  static protocol::Reply wrong_password() {
    return protocol::Reply::error("WRONGPASS invalid username-password pair");
  }

  protocol::Reply set(const std::vector<std::string>& words, Instant now) {
    if (recovering) {
      return protocol::Reply::error("ERR recovering after a restart, no new locks for 1000 ms");
    }
    if (value_of(words[1], now) != nullptr) return protocol::Reply::null();
    keys_[words[1]] = {words[2], now + std::chrono::milliseconds(*parse_int64(words[5]))};
    return protocol::Reply::ok();
  }

  protocol::Reply script(const std::vector<std::string>& words, Instant now) {
    const bool by_sha = words[0] == "EVALSHA";
    const bool is_release = words[1] == kReleaseScript.sha || words[1] == kReleaseScript.text;
    if (by_sha && !scripts_.contains(words[1])) {
      return protocol::Reply::error("NOSCRIPT No matching script. Please use EVAL.");
    }
    scripts_.insert(std::string(is_release ? kReleaseScript.sha : kExtendScript.sha));
    const std::string* value = value_of(words[3], now);
    if (value == nullptr || *value != words[4]) return protocol::Reply::integer(0);
    if (is_release) {
      keys_.erase(words[3]);
    } else {
      Instant& deadline = keys_[words[3]].deadline;
      deadline = std::max(deadline, now + std::chrono::milliseconds(*parse_int64(words[5])));
    }
    return protocol::Reply::integer(1);
  }

  void note(const std::vector<std::string>& words) {
    std::string line;
    for (const std::string& word : words) {
      std::string shown = word;
      if (word == kReleaseScript.sha || word == kReleaseScript.text) shown = "release";
      if (word == kExtendScript.sha || word == kExtendScript.text) shown = "extend";
      line += (line.empty() ? "" : " ") + shown;
    }
    log += (log.empty() ? "" : "; ") + line;
  }

  std::map<std::string, Key> keys_;
  std::set<std::string> scripts_;
  bool authenticated_ = false;
  protocol::Version version_ = protocol::Version::resp2;
};

class FakeNodes {
 public:
  explicit FakeNodes(std::size_t count = 5, std::string password = {}) : nodes_(count) {
    Group::Options options;
    for (std::size_t i = 0; i < count; ++i) {
      nodes_[i].id = fmt::format("id{}", i + 1);
      options.nodes.push_back({fmt::format("node{}:6379", i + 1), {{}, password}});
    }
    group_.emplace(
        std::move(options), [this] { return fmt::format("v{}", ++values_); }, 7);
  }

  // Begins to dial; separate from the constructor so that a test can break nodes before.
  FakeNodes& start() {
    group_->start(now_);
    settle();
    return *this;
  }

  FakeNode& node(unsigned number) { return nodes_[number - 1]; }
  Group& group() { return *group_; }
  Pipeline& link(unsigned number) { return group_->link(number - 1); }
  Instant now() const { return now_; }

  // What a node was asked about locks since the last look.
  std::string log(unsigned number) { return std::exchange(node(number).log, {}); }

  // Lets everything happen that happens at this instant.
  void settle() {
    for (bool busy = true; busy;) {
      busy = false;
      for (NodeIndex i = 0; i < nodes_.size(); ++i) busy = pump(i) || busy;
      const auto deadline = group_->next_deadline();
      if (deadline && *deadline <= now_) {
        group_->on_time(now_);
        busy = true;
      }
    }
  }

  void advance(Duration length) {
    const Instant end = now_ + length;
    while (true) {
      settle();
      const auto deadline = group_->next_deadline();
      if (!deadline || *deadline > end) break;
      now_ = std::max(now_, *deadline);
    }
    now_ = end;
    settle();
  }

  // The connection breaks; what the node has not read is lost.
  void cut(unsigned number) {
    node(number).inbox.clear();
    node(number).connected = false;
    group_->on_end(number - 1, "connection reset by peer", now_);
    settle();
  }

  std::optional<AcquireResult> acquire(std::string name, Duration ttl = 30s,
                                       Patience patience = {}) {
    std::optional<AcquireResult> result;
    group_->acquire({std::move(name), ttl, patience}, now_,
                    [&](AcquireResult got) { result = std::move(got); });
    run_until([&] { return result.has_value(); });
    return result;
  }
  ExtendResult extend(const HeldLock& lock) {
    std::optional<ExtendResult> result;
    group_->extend(lock, now_, [&](ExtendResult got) { result = std::move(got); });
    run_until([&] { return result.has_value(); });
    return std::move(*result);
  }
  ReleaseResult release(const HeldLock& lock) {
    std::optional<ReleaseResult> result;
    group_->release(lock, now_, [&](ReleaseResult got) { result = std::move(got); });
    run_until([&] { return result.has_value(); });
    return std::move(*result);
  }

 private:
  // From one instant at which something happens to the next.
  template <class Condition>
  void run_until(Condition condition) {
    for (settle(); !condition(); settle()) {
      const auto deadline = group_->next_deadline();
      INVARIANT(deadline.has_value(), "nothing will happen any more");
      now_ = std::max(now_, *deadline);
    }
  }

  bool pump(NodeIndex i) {
    FakeNode& node = nodes_[i];
    Pipeline& link = group_->link(i);
    bool busy = false;
    switch (link.take_wish()) {
      case Pipeline::Wish::none:
        break;
      case Pipeline::Wish::hang_up:
        node.connected = false;
        node.inbox.clear();
        break;
      case Pipeline::Wish::dial:
        busy = true;
        node.accept();
        if (node.down) {
          group_->on_end(i, "connection refused", now_);
        } else {
          group_->on_connected(i, now_);
        }
    }
    if (!link.outgoing().empty()) {
      node.inbox += link.outgoing();
      link.outgoing_written();
    }
    if (node.connected && !node.hung && !node.inbox.empty()) {
      group_->on_bytes(i, node.serve(now_), now_);
      busy = true;
    }
    return busy;
  }

  Instant now_ = Instant(1h);
  std::vector<FakeNode> nodes_;
  int values_ = 0;
  std::optional<Group> group_;
};

}  // namespace redlock::coordinator
