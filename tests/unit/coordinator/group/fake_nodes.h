// A Group and five nodes in one process, without sockets: what the tests of Group talk to.
//
//   FakeNodes world;
//   world.node(2).hung = true;          // nodes are numbered from 1
//   auto got = world.acquire("printer");
//   CHECK(world.log(1) == "SET printer v1 NX PX 30000");
//
// A hung node takes bytes and answers when it is let go on; a node that is down refuses. The nodes
// are plain Redis servers and locks are acquired without a token,
// unless they are made redlock-nodes:
//
//   FakeNodes world;
//   world.fenced().start();
#pragma once

#include "base/text/number.h"
#include "coordinator/group/group.h"
#include "coordinator/link/scripts.h"
#include "protocol/resp/reply_parser.h"
#include "protocol/resp/reply_writer.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace redlock::coordinator {

class FakeNode {
 public:
  NodeKind kind = NodeKind::plain_redis;
  bool hung = false;
  bool down = false;
  bool recovering = false;
  bool fenced = true;                  // of a redlock-node: its grants propose tokens
  Token counter = 0;                   // of tokens; one for all keys
  Token bound = 0;                     // that no counter passes, as its ledger has it
  Instant admit_from = Instant(0ns);   // of one that is not fenced (rule F7)
  std::vector<std::int64_t> odd_read;  // what it answers to LOCK.FENCE READ; none: what is so
  std::string hangs_at;                // it hangs when it is to answer what begins so
  bool knows_hello = true;
  std::string id;
  std::string warning;  // why its settings are not safe
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

  bool holds(const std::string& key, Instant now) { return find(key, now) != nullptr; }
  // Of a lock that it holds.
  Token token(const std::string& key) { return keys_.at(key).token; }
  // Every lock is lost.
  void forget() { keys_.clear(); }

  // Answers what is in the inbox.
  std::string serve(Instant now) {
    protocol::OutputBuffer out;
    while (!inbox.empty()) {
      auto parsed = protocol::parse_reply(inbox);
      INVARIANT(parsed.state == protocol::ParsedReply::State::complete, "half a request");
      std::vector<std::string> words;
      for (const auto& word : parsed.reply.items()) words.emplace_back(word.text());
      if (!hangs_at.empty() && fmt::to_string(fmt::join(words, " ")).starts_with(hangs_at)) {
        hung = true;
        break;
      }
      inbox.erase(0, parsed.consumed);
      const protocol::Reply reply = execute(words, now);
      protocol::write_reply(reply, version_, out);
    }
    return std::string(out.view());
  }

 private:
  using Reply = protocol::Reply;
  using Words = std::vector<std::string>;

  struct Key {
    std::string value;
    Instant deadline;
    Token token = 0;
  };

  Key* find(const std::string& key, Instant now) {
    const auto found = keys_.find(key);
    if (found == keys_.end() || found->second.deadline <= now) return nullptr;
    return &found->second;
  }

  Reply execute(const Words& words, Instant now) {
    ++requests;
    if (words[0] == "HELLO") return hello(words);
    if (words[0] == "AUTH") return authenticate(words) ? Reply::ok() : wrong_password();
    if (!password.empty() && !authenticated_) {
      return Reply::error("NOAUTH Authentication required.");
    }
    if (words[0] == "LOCK.STATUS" && kind == NodeKind::redlock_node) return status(now);
    if (words[0] == "LOCK.FENCE" && kind == NodeKind::redlock_node) return fence(words, now);
    if (words[0] == "LOCK.STATUS") return Reply::error("ERR unknown command 'LOCK.STATUS'");
    if (words[0] == "INFO") {
      return Reply::bulk(fmt::format("# Server\r\nmaster_run_id:x\r\nrun_id:{}\r\nport:1\r\n", id));
    }
    note(words);
    return kind == NodeKind::redlock_node ? lock_command(words, now) : redis_command(words, now);
  }

  // --- a redlock-node

  Reply status(Instant now) const {
    Reply all = Reply::map({});
    all.add_field("state", Reply::bulk(recovering ? "recovering" : "serving"));
    all.add_field("counter", Reply::integer(static_cast<std::int64_t>(counter)));
    all.add_field("admit_in_ms", Reply::integer(admit_from > now ? ceil_ms(admit_from - now) : 0));
    all.add_field("node_id", Reply::bulk(id));
    all.add_field("warning", Reply::bulk(warning));
    all.add_field("fenced", Reply::integer(fenced ? 1 : 0));
    all.add_field("bound", Reply::integer(static_cast<std::int64_t>(bound)));
    return all;
  }

  Reply fence(const Words& words, Instant now) {
    if (words[1] == "READ" && !odd_read.empty()) {
      Reply reply = Reply::array();
      for (const std::int64_t one : odd_read) reply.add(Reply::integer(one));
      return reply;
    }
    if (words[1] == "READ") return numbers({counter, fenced ? Token(1) : Token(0)});
    if (recovering) return is_recovering();
    if (fenced) return Reply::error("ERR already fenced");
    if (admit_from > now) return Reply::error("ERR too early");
    counter = std::max(counter, number(words[2]));
    fenced = true;
    return Reply::ok();
  }

  Reply lock_command(const Words& words, Instant now) {
    if (recovering) return is_recovering();
    if (words[0] == "LOCK.ACQUIRE") return lock_acquire(words, now);
    if (words[0] == "LOCK.EXTEND") return lock_extend(words, now);
    Key* held = find(words[1], now);
    if (words[0] == "GET") return held == nullptr ? Reply::null() : Reply::bulk(held->value);
    if (held == nullptr || held->value != words[2]) return Reply::integer(0);
    if (words[0] == "LOCK.CONFIRM") return lock_confirm(*held, number(words[3]));
    INVARIANT(words[0] == "LOCK.RELEASE", "a command that the fake does not know");
    keys_.erase(words[1]);
    return Reply::integer(1);
  }

  Reply lock_acquire(const Words& words, Instant now) {
    if (find(words[1], now) != nullptr) return numbers({0, 1});
    ++counter;
    keys_[words[1]] = {words[2], now + milliseconds(words[4]), counter};
    return numbers({1, fenced ? counter : 0, number(words[4])});
  }

  Reply lock_extend(const Words& words, Instant now) {
    Key* held = find(words[1], now);
    if (held != nullptr && held->value != words[2]) return numbers({0});
    const Instant deadline = now + milliseconds(words[4]);
    if (held != nullptr) {
      held->deadline = std::max(held->deadline, deadline);
      return numbers({1, held->token, number(words[4])});
    }
    if (words.size() < 7) return numbers({0});
    const Token token = number(words[6]);
    counter = std::max(counter, token);
    keys_[words[1]] = {words[2], deadline, token};
    return numbers({2, token, number(words[4])});
  }

  Reply lock_confirm(Key& held, Token token) {
    if (token < held.token) return Reply::integer(0);
    counter = std::max(counter, token);
    held.token = token;
    return Reply::integer(1);
  }

  // --- a plain Redis

  Reply redis_command(const Words& words, Instant now) {
    if (words[0] == "GET") {
      const Key* held = find(words[1], now);
      return held == nullptr ? Reply::null() : Reply::bulk(held->value);
    }
    if (words[0] == "SET") return set(words, now);
    if (words[0] == "SCAN") return scan(number(words[1]));
    if (words[0].starts_with("EVAL")) return script(words, now);
    return Reply::error(fmt::format("ERR unknown command '{}'", words[0]));
  }

  Reply set(const Words& words, Instant now) {
    if (recovering) return is_recovering();
    if (find(words[1], now) != nullptr) return Reply::null();
    keys_[words[1]] = {words[2], now + milliseconds(words[5])};
    return Reply::ok();
  }

  // Two names at a time, and the second of them again with the next.
  Reply scan(std::size_t from) const {
    std::size_t next = from;
    Reply names = Reply::array();
    for (auto key = std::next(keys_.begin(), static_cast<long>(from)); key != keys_.end(); ++key) {
      if (names.items().size() == 2) break;
      names.add(Reply::bulk(key->first));
      ++next;
    }
    Reply page = Reply::array();
    page.add(Reply::bulk(next == keys_.size() ? "0" : fmt::to_string(next - 1)));
    return std::move(page.add(std::move(names)));
  }

  Reply script(const Words& words, Instant now) {
    const NodeScript& called = *script_of(words[1]);
    if (words[0] == "EVALSHA" && !scripts_.contains(called.sha)) {
      return Reply::error("NOSCRIPT No matching script. Please use EVAL.");
    }
    scripts_.insert(called.sha);
    Key* held = find(words[3], now);
    if (&called == &kHolderScript) return holder(held, now);
    if (held == nullptr && &called == &kTopUpScript) {
      if (recovering) return is_recovering();
      keys_[words[3]] = {words[4], now + milliseconds(words[5])};
      return Reply::integer(2);
    }
    const bool is_prefix = &called == &kReleasePrefixScript;
    const bool is_it = held != nullptr && (held->value == words[4] ||
                                           (is_prefix && held->value.starts_with(words[4])));
    if (!is_it) return Reply::integer(0);
    if (&called == &kReleaseScript || is_prefix) {
      keys_.erase(words[3]);
    } else if (&called == &kShortenScript) {
      held->deadline = now + milliseconds(words[5]);
    } else if (&called == &kReplaceScript) {
      const Instant wanted = now + milliseconds(words[6]);
      *held = {words[5], words[7] == "1" ? wanted : std::max(held->deadline, wanted)};
    } else {
      held->deadline = std::max(held->deadline, now + milliseconds(words[5]));
    }
    return Reply::integer(1);
  }

  static Reply holder(const Key* held, Instant now) {
    if (held == nullptr) return Reply::null();
    Reply reply = Reply::array();
    reply.add(Reply::bulk(held->value));
    reply.add(Reply::integer(ceil_ms(held->deadline - now)));
    return reply;
  }

  static const NodeScript* script_of(std::string_view word) {
    for (const NodeScript* known :
         {&kReleaseScript, &kReleasePrefixScript, &kExtendScript, &kShortenScript, &kReplaceScript,
          &kTopUpScript, &kHolderScript}) {
      if (word == known->sha || word == known->text) return known;
    }
    return nullptr;
  }

  // --- every node

  Reply hello(const Words& words) {
    if (!knows_hello) return Reply::error("ERR unknown command `HELLO`, with args beginning with:");
    const bool has_password = words.size() > 2;
    if (has_password && !authenticate(words)) return wrong_password();
    version_ = protocol::Version::resp3;
    Reply greeting = Reply::map({});
    greeting.add_field("proto", Reply::integer(3));
    return greeting;
  }

  bool authenticate(const Words& words) {
    authenticated_ = words.back() == password;
    return authenticated_;
  }

  static Reply wrong_password() { return Reply::error("WRONGPASS invalid username-password pair"); }
  static Reply is_recovering() {
    return Reply::error("ERR recovering after a restart, no new locks for 1000 ms");
  }
  static Token number(const std::string& word) { return static_cast<Token>(*parse_int64(word)); }
  static Duration milliseconds(const std::string& word) {
    return std::chrono::milliseconds(*parse_int64(word));
  }
  static Reply numbers(std::initializer_list<Token> all) {
    Reply reply = Reply::array();
    for (const Token one : all) reply.add(Reply::integer(static_cast<std::int64_t>(one)));
    return reply;
  }

  void note(const Words& words) {
    std::string line;
    for (const std::string& word : words) {
      const NodeScript* known = script_of(word);
      std::string shown = word;
      if (known == &kReleaseScript) shown = "release";
      if (known == &kExtendScript) shown = "extend";
      if (known == &kShortenScript) shown = "shorten";
      if (known == &kReplaceScript) shown = "replace";
      if (known == &kTopUpScript) shown = "top-up";
      if (known == &kHolderScript) shown = "holder";
      line += (line.empty() ? "" : " ") + shown;
    }
    log += (log.empty() ? "" : "; ") + line;
  }

  std::map<std::string, Key> keys_;
  std::set<std::string_view> scripts_;
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

  // Redlock-nodes that give tokens, each with the same counter.
  FakeNodes& fenced(Token counter = 0) {
    for (FakeNode& node : nodes_) {
      node.kind = NodeKind::redlock_node;
      node.counter = counter;
    }
    fence_ = true;
    return *this;
  }

  // Begins to dial; separate from the constructor so that a test can break nodes before.
  FakeNodes& start() {
    group_->start(now_);
    settle();
    return *this;
  }

  FakeNode& node(unsigned number) { return nodes_[number - 1]; }
  Group& group() { return *group_; }
  Link& link(unsigned number) { return group_->link(number - 1); }
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

  // One that was hung answers what has come.
  void go_on(unsigned number) {
    node(number).hangs_at = {};
    node(number).hung = false;
    settle();
  }

  // It loses every lock, and its connections; the group links it again.
  void restart(unsigned number) {
    node(number).forget();
    cut(number);
    advance(Link::kBackoffMin);
  }

  std::optional<AcquireResult> acquire(std::string name, Duration ttl = 30s,
                                       Patience patience = {}) {
    std::optional<AcquireResult> result;
    group_->acquire({std::move(name), ttl, patience, fence_}, now_,
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
  ListResult list() {
    std::optional<ListResult> result;
    group_->list("*", now_, [&](ListResult got) { result = std::move(got); });
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
    Link& link = group_->link(i);
    bool busy = false;
    switch (link.take_wish()) {
      case Link::Wish::none:
        break;
      case Link::Wish::hang_up:
        node.connected = false;
        node.inbox.clear();
        break;
      case Link::Wish::dial:
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
  bool fence_ = false;
  std::optional<Group> group_;
};

}  // namespace redlock::coordinator
