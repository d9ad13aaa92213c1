// Match: one sequence played to a node and to Redis, reply against reply.
//
//   Match match(node, redis);
//   if (const auto difference = match.play(sequence)) …
//
// Requests of one client go out together and their replies are read together, as a pipeline; what
// clients then have been pushed (messages of channels, MONITOR) is fetched behind a PING. So the
// order of everything is the same in each play, and two servers that behave alike answer alike.
//
// Two moments are not compared. A push that a client's own request brings it stands before or
// behind the reply. And a lock that ran out is told (the event `expired`) at once or when somebody
// looks: before such an event counts as missing, all keys are looked at on both sides.
#pragma once

#include "tests/differential/comparison.h"
#include "tests/differential/link.h"
#include "tests/differential/server_process.h"
#include "tests/differential/step.h"

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace redlock::differential {

struct Difference {
  std::size_t step = 0;
  std::string node;  // as in a transcript
  std::string redis;
  std::string about;  // what differs, when it is not the reply itself
};

class Match {
 public:
  Match(ServerProcess& node, ServerProcess& redis);

  // From an empty server. nullopt: nothing differs but what is wanted.
  std::optional<Difference> play(const Sequence& sequence);
  // The same, and tells it, answers included.
  std::optional<Difference> play(const Sequence& sequence, std::string& transcript);

  std::uint64_t requests() const { return requests_; }
  // How often each command was played, and how often each wanted difference was met.
  const std::map<std::string, std::uint64_t>& calls() const { return calls_; }
  const std::map<std::string_view, std::uint64_t>& wanted() const { return wanted_; }
  // The node ended by itself, or a server did not come back: the match is over.
  const std::string& failure() const { return failure_; }

 private:
  // No client of a sequence has such a name.
  static constexpr std::string_view kControl = "(control)";
  enum Side { kNode = 0, kRedis = 1 };
  static constexpr Side kSides[] = {kNode, kRedis};

  using Answers = std::vector<Answer>;
  struct Pair {
    Answers sides[2];
  };

  // What is known of a client, on both sides alike.
  struct Client {
    std::unique_ptr<Link> links[2];
    bool in_multi = false;
    bool is_mute = false;        // CLIENT REPLY OFF
    bool skips_next = false;     // CLIENT REPLY SKIP
    bool may_be_pushed = false;  // subscribed, or monitoring
    bool is_monitoring = false;
    bool is_resp3 = false;
    bool is_closed = false;
    std::vector<Words> queued;  // in MULTI
    Pair pushed;                // not yet compared
    std::multiset<std::string> expired[2];

    bool can_be_asked() const { return !in_multi && !is_mute && !skips_next && !is_closed; }
  };

  void begin();
  bool revive();
  Client& client(const std::string& name);
  std::optional<Difference> play_from(const Sequence& sequence, std::size_t& at);
  std::optional<Difference> play_steps(const Sequence& sequence, std::size_t& at);
  std::size_t end_of_burst(const Sequence& sequence, std::size_t at) const;
  std::optional<Difference> play_burst(std::span<const Step> steps, std::size_t first);
  std::optional<Difference> play_alone(const Step& step, std::size_t at);
  std::optional<Difference> play_scan(const Step& step, std::size_t at);
  std::optional<Difference> play_bytes(const Step& step, std::size_t at);
  std::optional<Difference> drain(std::size_t at);
  void fetch_pushed(Client& from);
  std::optional<Difference> compare_pushed(const std::string& name, Client& of, std::size_t at);
  std::optional<Difference> settle_expired(std::size_t at);
  void look_at_all_keys();
  Answer answer_of(Client& from, Side side);
  void send(Client& to, const Words& words);
  void send_fence(Client& to);
  Pair read_to_fence(Client& from);
  bool expects_reply(Client& of, const Step& step);
  void note(Client& of, const Words& words, const Answer& redis);
  bool is_same(Client& of, const Words& words, const Answer& node, const Answer& redis);
  bool is_same_list(Client& of, const Pair& pair, bool is_unsubscribe);
  void tell(const Step& step, const std::string& node, const std::string& redis);
  void tell_pushed(const std::string& name, const Pair& pair);
  Difference difference(std::size_t at, const Answers& node, const Answers& redis,
                        std::string about);

  ServerProcess* servers_[2];
  std::map<std::string, Client> clients_;
  std::string fence_;
  std::uint64_t fences_ = 0;
  std::chrono::steady_clock::time_point began_;  // the burst under way
  Duration slowest_{};                           // of those before, in this play
  std::uint64_t requests_ = 0;
  std::map<std::string, std::uint64_t> calls_;
  std::map<std::string_view, std::uint64_t> wanted_;
  std::string failure_;
  std::string* transcript_ = nullptr;
};

}  // namespace redlock::differential
