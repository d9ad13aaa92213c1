// The link to one node, without the socket: requests go out in order, replies come back in order,
// over one connection after another.
//
//   shell            link
//   -----            --------
//   dials        <-  take_wish() == dial
//   connected    ->  on_connected: the greeting (greeting.h): who is it, which dialect?
//   bytes        ->  on_bytes … in state identified the group says accept or reject
//   writes       <-  outgoing(): once per turn of the loop
//   end          ->  on_end: what was in flight fails, a new dial follows after a while
//
// Answers come as Completions, in take_completions(), also those of requests that could not be
// sent; never from inside a call. Each request is written in the dialect of the node that the
// connection leads to, also one that waited for it, or that an earlier connection lost. Pushes
// (RESP3) are no answers: they come apart, in take_pushes(), and those of the front doors' relay in
// relay() (relay_line.h). Of these a node sends as many as others publish there, so whoever drives
// the link reads nothing while it is_full().
//
// Three kinds of memory, all bounded:
//   waiting    while the connection is being made; may still be withdrawn, unwritten
//   in flight  written, not yet answered. At kInFlightMax nothing new is taken, so a node that
//              hangs for long costs no more than that
//   owed       releases whose connection broke or was not there; sent first on the next one, until
//              the lock has run out by itself (rule Q3). At most one for each lock sent before
//
// Requests are executed in the order in which they were sent: a release after the top-ups of its
// lock, a top-up after the undo of an earlier one (rule Q4). The exception are scripts that a plain
// Redis has forgotten (NOSCRIPT): they are sent again, in full, at the end. Where that would change
// the order of those two the connection is given up instead, which is always safe.
//
// A node that goes by another roster refuses to vote (rule G1): then the connection is over, as its
// greeting tells which one that is. One that tells of a change under way is asked for no vote, and
// is greeted again and again until it tells the next roster; what the change needs gets through.
//
// A vote belongs to the node that gave it (rule Q5). So an answer says who that is, and a request
// that is meant for one node is written to that node alone: one that waits while its address comes
// to lead to another is told so, unsent.
//
// A node that answers late answers in its order all the same: whoever asked may be gone by then,
// and the completion of an operation that is over is ignored by the group.
#pragma once

#include "base/random.h"
#include "coordinator/link/common_answer.h"
#include "coordinator/link/greeting.h"
#include "coordinator/link/node_request.h"
#include "coordinator/link/pulse.h"
#include "coordinator/link/relay_line.h"
#include "coordinator/link/request_writer.h"
#include "coordinator/link/ring.h"
#include "protocol/resp/output_buffer.h"
#include "protocol/resp/reply.h"
#include "protocol/resp/reply_parser.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redlock::coordinator {

struct Completion {
  OperationId operation;
  WaitNumber wait;
  RequestKind kind;
  Answer answer;
  protocol::Reply reply;  // what was answered, for reads; none when nothing was
};

// What a node answered to those who wanted a lock, also late.
struct VoteFigures {
  std::uint64_t yes = 0;
  std::uint64_t no = 0;    // held by another
  std::uint64_t none = 0;  // it said nothing, or something that is no vote: it recovers
};

class Link {
 public:
  // What became of a request: its number while it waits, kWritten, or kRefused: it never leaves.
  using Ticket = std::uint64_t;
  static constexpr Ticket kWritten = 0;
  static constexpr Ticket kRefused = ~Ticket(0);

  enum class State : std::uint8_t { idle, dialing, greeting, identified, ready, backing_off };
  enum class Wish : std::uint8_t { none, dial, hang_up };

  static constexpr std::size_t kInFlightMax = 16 * 1024;
  // Of names and values: a node that hangs costs no more memory than this, and twice that in the
  // buffers on their way to it. A thousand requests with the longest name and value.
  static constexpr std::size_t kInFlightBytesMax = 128 * 1024 * 1024;
  // Releases for a node that is away. Of more the oldest are forgotten, as they are with the
  // process that ends (rule Q3): their locks run out there by themselves,
  // and are the first to do so.
  static constexpr std::size_t kOwedMax = 64 * 1024;
  static constexpr std::size_t kOwedBytesMax = 16 * 1024 * 1024;
  // A node pushes once for each LOCK.WAIT that it was sent, and there are no more of those.
  static constexpr std::size_t kPushesMax = kInFlightMax;
  static constexpr Duration kDialTimeMax = 5s;       // until connected
  static constexpr Duration kGreetingTimeMax = 10s;  // until identified: it may be hung for a while
  static constexpr Duration kSilenceMax = 10s;       // nothing heard while answers are due
  static constexpr Duration kBackoffMin = 20ms;
  static constexpr Duration kBackoffMax = 1s;

  // `random` outlives the link. is_doors: it is subscribed to the relay's messages. writer: shared
  // with the other links of a group.
  Link(Credentials credentials, Random& random, bool is_doors = false,
       std::shared_ptr<RequestWriter> writer = std::make_shared<RequestWriter>());
  Link(Link&&) = default;
  Link(const Link&) = delete;

  void start(Instant now);
  // The dial, or the greeting, is given up for another address: what waits goes on waiting.
  // Whoever was met before does not count. REQUIRES: the connection was never ready.
  void start_elsewhere(Instant now);
  // Whether the dial, the greeting, or the pause before the next dial has had its time.
  bool is_overdue(Instant now) const { return state_ != State::ready && now >= deadline_; }
  // No dial has failed since the last connection that was ready.
  bool is_unfailed() const { return backoff_ == kBackoffMin; }
  // The dial, or the greeting, that is under way ends by then.
  void hasten(Instant by);

  // The roster that its requests go by, from the next connection on (rule G1). A node that knows an
  // earlier one is told.
  void set_roster(SharedRoster roster) { roster_ = std::move(roster); }
  // No node is asked for a vote from now on, as they are not those of the group (rule G1): why.
  // What releases come to does not count. An empty text: all is as before.
  void refuse_votes(const std::string& why) { votes_refused_ = why; }
  // The connection ends, and the next one asks anew which group the node is of.
  void ask_again_who_it_is(Instant now);
  // The group's nodes change: the connection ends, and what was in flight fails.
  void end_for_change(Instant now);
  // Its connections have larger numbers than this from now on: what was noted of another link in
  // its place (Witnesses) is not of it.
  void count_from(std::uint64_t connection) { connection_ = std::max(connection_, connection); }

  // Sends, or queues, or completes at once with the reason why not.
  Ticket send(NodeRequest&& request, Instant now);
  // True if the request had not been written; it never will be then, and has no completion.
  bool withdraw(Ticket ticket);

  // A message to other front doors, behind those before; to a node that is not there now, or that
  // is too far behind, it is not sent. Nobody hears what became of it.
  void publish(const SharedWords& publish, Instant now);
  // Asks for the relay's messages, once more if they come already: so whether the node is there.
  void subscribe(Instant now);
  // Messages wait to be taken: what the node says next stays unread, and so holds up who publishes.
  bool is_full() const { return relay_.has_received(); }
  RelayLine& relay() { return relay_; }
  const RelayLine& relay() const { return relay_; }

  void on_connected(Instant now);
  void on_bytes(std::string_view bytes, Instant now);
  void on_end(std::string_view reason, Instant now);
  void on_time(Instant now);
  std::optional<Instant> next_deadline() const;

  // What the last node that was connected told of itself; valid from state identified on.
  const NodeFacts& facts() const { return greeting_.facts(); }
  // What counts the node (rule Q5): of the present connection, or of the last that told one.
  NodeIdentity identity() const { return identity_; }
  // The same for the node with its ledger, as a roster names it (rule G4).
  NodeIdentity member_identity() const { return member_identity_; }
  // In state identified one of the two must follow.
  void accept(Instant now);
  void reject(AnswerKind kind, std::string reason, Instant now);

  // What the shell is to do; reading it takes it away.
  Wish take_wish();
  bool has_wish() const { return wish_ != Wish::none; }
  std::string_view outgoing() const { return out_.view(); }
  void outgoing_written() {
    out_.clear();
    unwritten_ = 0;
  }
  // Whether the node has yet to answer what was written before: it is slow just now, or it hangs.
  bool is_behind() const { return in_flight_.size() > unwritten_; }
  // Appends what was completed since the last call.
  void take_completions(std::vector<Completion>& completions);
  bool has_completions() const { return !completed_.empty(); }
  // What the node pushed since the last call, in order. Of pushes that nobody takes, the first
  // kPushesMax are kept.
  std::vector<protocol::Reply> take_pushes() { return std::exchange(pushes_, {}); }
  bool has_pushes() const { return !pushes_.empty(); }

  State state() const { return state_; }
  bool is_ready() const { return state_ == State::ready; }
  // In state backing_off: why.
  const Answer& problem() const { return problem_; }
  // A number of the present connection, or of the last one: no other of this link has it.
  std::uint64_t connection() const { return connection_; }
  // Whether a connection was ever ready: a node may have been asked on it.
  bool connection_began() const { return began_; }
  // Connected and identified, or known not to be: no longer in the middle of it.
  bool is_settled() const { return state_ == State::ready || state_ == State::backing_off; }
  bool is_plain_redis() const {
    return state_ == State::ready && facts().kind == NodeKind::plain_redis;
  }
  // Whether the node gives votes, as far as it has told: ready, and no longer recovering.
  bool is_granting(Instant now) const {
    const NodeStatus& status = facts().status;
    const bool recovers =
        status.state == "recovering" && now < later(pulse_.greeted(), status.delay_left);
    return state_ == State::ready && !recovers;
  }
  Duration round_trip() const { return pulse_.round_trip(); }
  const DurationBuckets& round_trips() const { return pulse_.round_trips(); }
  // For how long an answer is due with nothing heard.
  Duration silence(Instant now) const { return in_flight_.empty() ? 0ns : now - pulse_.heard(); }
  const VoteFigures& votes() const { return votes_; }
  // What was counted so far: round trips, votes, and messages that the node did not take.
  void forget_figures();
  // Releases that are not answered yet, sent or not.
  std::size_t releases_pending() const { return releases_pending_; }

 private:
  struct InFlight {
    NodeRequest request;
    ScriptForm form = ScriptForm::by_sha;
  };
  struct Waiting {
    NodeRequest request;
    bool withdrawn = false;
  };
  bool is_refused_vote(const NodeRequest& request) const;
  void refuse_vote(NodeRequest&& request);
  Answer wrong_list(bool never_sent) const;
  void write(NodeRequest&& request, ScriptForm form, Instant now);
  void complete(const NodeRequest& request, Answer&& answer, protocol::Reply&& reply);
  void note_vote(AnswerKind answer);
  void fail(NodeRequest&& request, Answer answer);
  bool is_due(const protocol::Reply& reply) const;
  std::optional<CommonAnswer> common_answer(std::string_view bytes) const;
  void on_common_answer(Answer&& answer, Instant now);
  void on_reply(protocol::Reply reply, Instant now);
  InFlight take_answered(Instant now);
  void conclude(const NodeRequest& request, Answer&& answer, protocol::Reply&& reply, Instant now);
  void on_greeting(const protocol::Reply& reply, Instant now);
  void send_in_full(InFlight unknown, Instant now);
  bool may_overtake(const NodeRequest& request) const;
  void keep_push(protocol::Reply push);
  bool is_answer(const protocol::Reply& push) const;
  void publish_waiting(Instant now);
  bool is_idle() const { return in_flight_.empty() && out_.empty(); }
  void end_connection();
  void give_up(Answer why, Instant now);
  bool is_for_another(const NodeRequest& request) const;
  void drop_worthless_debts(Instant now);
  void greet_group(Instant now);

  Credentials credentials_;
  Random& random_;
  std::shared_ptr<RequestWriter> writer_;
  std::string votes_refused_;  // empty: they are not
  SharedRoster roster_ = std::make_shared<const ChosenRoster>();
  State state_ = State::idle;
  Wish wish_ = Wish::none;
  std::uint64_t connection_ = 0;
  bool began_ = false;
  Greeting greeting_;
  NodeIdentity identity_ = NodeIdentity::unknown;
  NodeIdentity member_identity_ = NodeIdentity::unknown;
  Answer problem_;  // of backing_off: what requests are told meanwhile

  std::deque<Waiting> waiting_;
  Ticket first_ticket_ = 1;  // of waiting_.front()
  Ring<InFlight> in_flight_;
  std::size_t unwritten_ = 0;  // of in_flight_: those whose bytes still stand in out_
  std::size_t bytes_ = 0;      // of waiting_ and in_flight_
  std::vector<NodeRequest> owed_;
  std::size_t owed_bytes_ = 0;
  std::size_t releases_pending_ = 0;
  std::size_t top_ups_in_flight_ = 0;

  protocol::OutputBuffer out_;
  std::string received_;  // the beginning of a reply whose end has not come
  protocol::ReplyParser parser_;
  std::vector<Completion> completed_;
  VoteFigures votes_;
  std::vector<protocol::Reply> pushes_;
  RelayLine relay_;

  Duration backoff_ = kBackoffMin;
  Instant deadline_ = kNever;       // of the present state: dialing, greeting, backing off
  Instant began_at_{};              // dialing, or greeting
  Instant greet_again_ = kNever;    // a change of the group is under way at the node
  Instant silence_check_ = kNever;  // when to look whether anything was heard
  Pulse pulse_;
};

}  // namespace redlock::coordinator
