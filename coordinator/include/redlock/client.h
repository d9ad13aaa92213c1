// Client: locks over a group of lock nodes (redlock-node, or plain Redis servers), by Redlock.
//
//   auto client = redlock::Client::start({.nodes = {"redis://node1", "redis://node2", …}});
//   auto got = client.value().acquire("printer", {.ttl = 30s, .wait = 5s});
//   if (got) { print(); client.value().release(got.value()); }
//
// A lock is held by whoever has it on more than half of the nodes, and only for its validity: a
// little less than its TTL, counted from before it was asked for. guard.h keeps a lock for longer,
// mutex.h makes one look like std::mutex.
//
// Errors are values (answer.h); nothing throws, but for std::bad_alloc. Durations are
// std::chrono::nanoseconds; nodes count whole milliseconds, and round a TTL up to one. Clocks: the
// holder's is CLOCK_BOOTTIME, which goes on while the machine sleeps.
//
// Threads. A client of start() has a thread of its own, and every function may be called from any
// thread at any time. A client of start_on() lives on the caller's libuv loop, belongs to the
// thread that runs it, and has no blocking calls.
//   - The calls without a callback block, until a quorum has decided, at most for node_timeout and
//     the wait asked for. On the client's own thread, or on a caller's loop, they fail at once with
//     ErrorCode::wrong_thread instead of waiting for themselves.
//   - The calls with a callback return at once. The callback comes exactly once, on the client's
//     thread, never from inside the call; it may call the client, destroy it, and must not block.
//     It is moved and never copied, so it may capture a std::unique_ptr; what it captures ends
//     after it was called, on that thread. An empty one means that nobody is told.
//   - In a process that was forked off the client's nothing of it is touched: calls fail with
//     ErrorCode::stopped, and no callback comes.
//
// How long a call takes does not depend on hung or dead nodes: it ends when a quorum agrees, or
// when none can.
#pragma once

#include <redlock/answer.h>
#include <redlock/figures.h>
#include <redlock/move_only_function.h>
#include <redlock/result.h>
#include <redlock/visibility.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

struct uv_loop_s;  // libuv's uv_loop_t

namespace redlock {

class Guard;
struct GuardOptions;

enum class Severity : std::uint8_t {
  info,     // a node is reached
  warning,  // a node is not reached any more, a lock was lost, or is waited for without a quorum
};

struct ClientOptions {
  // 1 to 64, each once: "redis://[user:password@]host[:port]", the same with rediss:// for TLS, or
  // "unix:///path". A string may name several, separated by commas, as REDLOCK_NODES does.
  std::vector<std::string> nodes = {};
  // For those of them that are named without one.
  std::string password = {};
  // TLS. Whose signature makes a node's certificate a good one: a file of certificates in PEM form,
  // or a folder of them (made by `openssl rehash`); empty: whom the system trusts. The certificate
  // must be for the name, or the numeric address, by which the node is named here.
  std::string tls_ca = {};
  // What is shown to nodes that ask for a certificate, and its key: files in PEM form; the key may
  // stand in the first. Files that have changed are read anew when a node is dialled; those that
  // cannot be used at the start are an error (ErrorCode::invalid), later they leave all as it was.
  std::string tls_cert = {};
  std::string tls_key = {};
  // After it a node counts as not answering. It never delays a decision that a quorum has made. A
  // lock with a TTL of less than three times as long gives each node a third of its TTL.
  std::chrono::nanoseconds node_timeout = std::chrono::milliseconds(500);
  // How much the rates of any two clocks may differ: 0.01 is 1 %. 0 to 0.5.
  double clock_drift = 0.01;
  // When no quorum can vote any more, hear what the other nodes say all the same (at most for
  // node_timeout), so that an error tells of every node: for people.
  bool hear_everyone = false;
  // The nodes are asked as they are named, whatever groups they tell that they are of, and none for
  // a vote: for status() and rescue_group().
  bool as_named = false;
  // Ask nodes for votes, too, whose settings make them worth less than is believed (docs/safety.md,
  // G6): a restart-delay that is too short, or a larger clock_drift than here. After a restart of
  // such a node two may hold one lock.
  bool unsafe_members = false;
  // Admit nodes that lost their ledger, in the background: see Client::admit.
  bool admit_unfenced = true;
  // Who holds the locks of this client, in words for people: 128 bytes at most. Nodes keep it with
  // each lock and tell it to whoever asks; plain Redis servers do not. Empty: nothing is told.
  std::string label = {};
  // What people want to read when locks fail: a line without its end, when a node is reached or is
  // not any more (with the reason, once for each reason), when a lock was lost, and why one is
  // waited for. Called on the client's thread, in the order of what happened, as a callback: it may
  // call the client, destroy it, and must not block. Not after the client's end has begun.
  std::function<void(Severity, std::string_view)> log = {};
};

struct AcquireOptions {
  // How long the nodes hold it at most. 10 ms to 292 years; a node has a limit
  // of its own (max-ttl).
  std::chrono::nanoseconds ttl = std::chrono::seconds(30);
  // How long to try while another holds it. 0: once. nullopt: for ever, but for at most 10 s
  // without a quorum.
  std::optional<std::chrono::nanoseconds> wait = std::chrono::nanoseconds(0);
  // With a fencing token, which every later holder's is larger than: a second round trip where the
  // nodes do not propose the same one at once. Fails with ErrorCode::unfenced where no quorum gives
  // tokens, as no plain Redis does. false: one round trip, no token.
  bool fence = true;
  // When a stop is requested it ends at once with ErrorCode::stopped, as by Client::cancel.
  std::stop_token stop = {};
  // Why it is waited for: called when an attempt has failed that others will follow, and the error
  // says something else than the last time (held, no_quorum, too_late, unfenced, …). On the
  // client's thread, as a callback, as often as that happens, and not after the outcome was told.
  std::function<void(const Error&)> on_wait = {};
  // on_wait is called for every such attempt, also when it says the same again.
  bool tells_every_attempt = false;
};

// A lock that was acquired, or one of which name and value were told by another process.
struct REDLOCK_PUBLIC Lock {
  std::string name = {};
  std::string value = {};  // the holder's secret: whoever knows it can extend and release
  std::chrono::nanoseconds ttl = std::chrono::seconds(30);
  // On CLOCK_BOOTTIME. The default: not known, as another process acquired it.
  std::chrono::nanoseconds valid_until = std::chrono::nanoseconds::max();
  // To be shown with each write that the lock protects: whoever stores it refuses one with a
  // smaller token than the largest it saw. 0: none, or not known.
  std::uint64_t token = 0;
  unsigned round_trips = 0;  // that acquiring it took, 1 or 2; 0: not known

  // How long it may be relied on from this moment; 0: not any more. Any thread; does not block.
  std::chrono::nanoseconds validity_left() const;
};

// What a quorum holds under a name.
struct Holder {
  std::string value = {};
  // Until fewer than a quorum hold it, as the nodes told it. max(): no end, as of a key that
  // somebody set at plain Redis servers without a time to live.
  std::chrono::nanoseconds left{0};
  std::size_t nodes = 0;  // that hold it
  // The fencing token that a quorum stores with this value; 0 if there is none: what a single node
  // stores is no more than its proposal.
  std::uint64_t token = 0;
  // Who it says it is (ClientOptions::label), without what a terminal would obey, and for how long
  // it has held the lock; empty: it does not say.
  std::string label = {};
  std::chrono::nanoseconds held{0};
};

struct ListedLock {
  std::string name = {};
  Holder holder = {};
};

// A node with its ledger, as a group names it.
struct GroupMember {
  std::string node = {};    // its address
  std::string id = {};      // of the node
  std::string ledger = {};  // of the ledger: another when that was lost, whatever the node's id
  std::uint64_t since = 0;  // the epoch with which it became a member
  friend bool operator==(const GroupMember&, const GroupMember&) = default;
};

// Who the nodes of a group are. Each has the epoch of the one before it and one more.
struct GroupRoster {
  std::uint64_t epoch = 0;  // 0: the group has none
  std::vector<GroupMember> members = {};
  friend bool operator==(const GroupRoster&, const GroupRoster&) = default;
};

// What came of a change of the group.
struct GroupChange {
  GroupRoster roster = {};  // that the group goes by now
  bool is_wanted = false;   // the one that was wanted; else another change came before it
  // Longer than 0: nothing was changed, as the last change is too young (docs/safety.md, G3). To be
  // tried again after it.
  std::chrono::nanoseconds wait{0};
};

// One node's state. What a node does not tell (a plain Redis has no restart delay) is nullopt, or
// an empty text.
struct NodeState {
  NodeAnswer answer = {};  // kind yes: it answered; took: the round trip
  std::string state = {};  // "serving", "recovering"; else why it did not answer
  bool grants = false;     // it would grant a lock now
  std::string cause = {};  // what its start found, and why it waits or does not
  std::optional<std::chrono::nanoseconds> delay_left = {};
  std::optional<std::int64_t> locks = {};
  std::optional<std::chrono::nanoseconds> max_ttl = {};      // that it grants
  std::optional<std::chrono::nanoseconds> largest_ttl = {};  // that it must reckon with
  std::optional<std::uint64_t> counter = {};                 // the largest of fencing tokens
  std::optional<std::uint64_t> bound = {};                   // that no counter passes, on its disk
  // Not: it lost its ledger, and has no part in fencing tokens until it is admitted.
  std::optional<bool> fenced = {};
  std::optional<std::chrono::nanoseconds> admit_in = {};  // of one that is not fenced
  std::string clock = {};                                 // what it counts time with
  std::string node_id = {};
  std::string version = {};
  std::string ledger_id = {};
  std::string standing = {};     // in its group: "none", "member", "outside"
  GroupRoster roster = {};       // that it goes by
  std::string unsafe = {};       // which of its settings make its votes worth less, and why
  bool is_plain = false;         // a Redis server: it gives no tokens, and forgets locks in a crash
  std::string clock_drift = {};  // its bound on clock rates, as it writes it
  std::optional<std::int64_t> longest_line = {};  // how many wait for one lock, at most
  // How long who came first waits by now, by its own word.
  std::optional<std::chrono::nanoseconds> oldest_wait = {};
};

struct AdmitOptions {
  // For a group of which no quorum is fenced: a new one, or one that lost its ledgers. It needs all
  // nodes, none of them recovering, and where a quorum has lost them a floor.
  bool new_group = false;
  // The caller vouches that no token larger than this was ever given; less than 2^53, and not below
  // what the nodes tell. None: as the fenced nodes tell it, which a new group has none of.
  std::optional<std::uint64_t> floor = {};
  // See AcquireOptions. What nodes were told before it stays so.
  std::stop_token stop = {};
};

// What an admission did to one node.
struct NodeAdmission {
  NodeAnswer answer = {};  // the text says what became of it, or why it did not answer
  bool fenced = false;     // it is, by now
  bool admitted = false;   // just now
};

struct Admitted {
  std::uint64_t floor = 0;                // all tokens of the nodes that were admitted are above it
  std::vector<NodeAdmission> nodes = {};  // in the order of the options
};

class REDLOCK_PUBLIC Client {
 public:
  // With a thread of its own. Begins to connect and returns: operations wait for the connections
  // they need. Fails with ErrorCode::invalid if an option is out of its bounds, with
  // ErrorCode::system if the system gives no thread or too few descriptors.
  static Result<Client, Error> start(const ClientOptions& options);
  // On the caller's loop, which outlives the client. Its handles keep the loop running. The caller
  // ignores SIGPIPE, as any program on libuv that writes to sockets.
  static Result<Client, Error> start_on(uv_loop_s* loop, const ClientOptions& options);

  Client(Client&&) noexcept;
  Client& operator=(Client&&) noexcept;
  // Ends everything under way: callbacks come with ErrorCode::stopped, guards are released and not
  // valid from here on. With a thread of its own it blocks until undos and releases were answered,
  // or have been sent wherever they could be: at most for node_timeout. On a caller's loop, and
  // from inside a callback, it does not block (call finish before):
  // what can be sent at once is sent.
  ~Client();

  // Names an operation under way, for cancel.
  using Operation = std::uint64_t;
  template <class T>
  using Callback = MoveOnlyFunction<void(Result<T, Error>)>;

  // Errors: held, no_quorum, denied, too_late, unfenced, invalid (also what the nodes never grant:
  // a TTL above their max-ttl), overloaded, wrong_thread, stopped. After a failure the nodes that
  // may have granted it are told to forget it, in the background.
  Result<Lock, Error> acquire(std::string name, AcquireOptions options = {});
  Operation acquire(std::string name, AcquireOptions options, Callback<Lock> done);

  // Gives the lock its full TTL from now on; the value is the lock with its new end of validity,
  // and its token. Within the known validity nodes that do not have it, as they were restarted, get
  // it again; so keep the new value for the release. A failure leaves the old one as it was.
  // Errors: not_held, no_quorum, denied, invalid, wrong_thread, stopped.
  Result<Lock, Error> extend(const Lock& lock);
  Operation extend(const Lock& lock, Callback<Lock> done);

  // Confirmed by a quorum; goes on in the background at the nodes that did not answer. Errors:
  // not_held (it had run out, or was never this holder's), no_quorum (it runs out by itself),
  // denied, invalid, wrong_thread, stopped.
  Result<Done, Error> release(const Lock& lock);
  Operation release(const Lock& lock, Callback<Done> done);

  // Who holds it, or nullopt if nobody does. Waits for all nodes, at most for node_timeout. Errors:
  // no_quorum, denied, invalid, wrong_thread, stopped.
  Result<std::optional<Holder>, Error> holder(std::string name);
  Operation holder(std::string name, Callback<std::optional<Holder>> done);
  // The same by the first quorum that agrees, so that hung nodes cost nothing: `nodes` counts those
  // that were heard by then. nullopt: nobody, or no quorum can tell.
  Operation holder_of_quorum(std::string name, Callback<std::optional<Holder>> done);

  // Every lock that a quorum holds whose name matches the glob-style pattern, by name. No snapshot:
  // each was held when its nodes told of it. What a name stands for that is no lock, as a hash at a
  // node, is left out. Waits for all nodes, for each at most for node_timeout between two of its
  // answers. Errors: no_quorum, denied, wrong_thread, stopped.
  Result<std::vector<ListedLock>, Error> list(std::string pattern = "*");
  Operation list(std::string pattern, Callback<std::vector<ListedLock>> done);

  // What each node says of itself, in the order of the options. Waits as holder does. Errors:
  // wrong_thread, stopped.
  Result<std::vector<NodeState>, Error> status();
  Operation status(Callback<std::vector<NodeState>> done);

  // Admits the nodes that lost their ledger: they have no part in fencing tokens until a quorum of
  // the others has told how far those are. A client does it by itself, in the background, for any
  // node that it meets; this is for operators, and for new groups. Success: every node that
  // answered is fenced. Waits as holder does, and longer for nodes that write. Errors:
  // not_admitted, no_quorum, denied, invalid, wrong_thread, stopped.
  Result<Admitted, Error> admit(AdmitOptions options = {});
  Operation admit(AdmitOptions options, Callback<Admitted> done);

  // Brings the group from its roster to the wanted one, of the next epoch: one member replaced,
  // added or removed, or its address changed; or the first roster, of epoch 1, which all of its
  // nodes must accept. It can be repeated: what was begun and not ended is ended first. The client
  // goes by the new roster from then on. Begins when all nodes are met, or after node_timeout.
  // Errors: no_quorum, denied, invalid, other_group, wrong_thread, stopped.
  Result<GroupChange, Error> change_group(const GroupRoster& wanted);
  Operation change_group(const GroupRoster& wanted, Callback<GroupChange> done);

  // The same where no quorum of the members will answer again, as too many lost their ledgers or
  // are gone for good: the caller vouches for that, nobody is asked, and the nodes take over the
  // wanted roster, of a later epoch, as they are told it. All of its nodes must answer to
  // this client, which asks them as they are named (ClientOptions::as_named). Those that are new to
  // it wait as newcomers, and are admitted by AdmitOptions::new_group.
  Result<GroupChange, Error> rescue_group(const GroupRoster& wanted);
  Operation rescue_group(const GroupRoster& wanted, Callback<GroupChange> done);

  // Acquires a lock and keeps it: see guard.h. Errors: as acquire.
  Result<Guard, Error> guard(std::string name, const GuardOptions& options);
  Operation guard(std::string name, const GuardOptions& options, Callback<Guard> done);

  // Several locks, all of them or none, a guard and a token each, in the order of the names. They
  // are acquired in an order of their own, the same for everybody, so that nobody waits in a
  // circle; those that were got are kept meanwhile. The options' `wait` is for all together.
  // Errors: as acquire, the text names the lock; lost, if one of them was while others
  // were waited for.
  Result<std::vector<Guard>, Error> guards(std::vector<std::string> names,
                                           const GuardOptions& options);
  Operation guards(std::vector<std::string> names, const GuardOptions& options,
                   Callback<std::vector<Guard>> done);

  // Keeps a lock that is there: one of acquire, of Guard::detach, or of another process that told
  // its name and value. Extends it at once, for the options' TTL from then on; their `wait`,
  // `fence` and `on_wait` are not used. Errors: as extend.
  Result<Guard, Error> keep(const Lock& lock, const GuardOptions& options);
  Operation keep(const Lock& lock, const GuardOptions& options, Callback<Guard> done);

  // Ends an operation; its callback comes with ErrorCode::stopped. What an acquisition may have
  // left at the nodes is undone. Harmless when it is over already. Does not block.
  void cancel(Operation operation);

  // Calls back when the connections are made as far as they will be: all of them, or a quorum and a
  // short grace, or when node_timeout has passed. Operations need not wait for it; but the first
  // one of a program reaches more nodes after it. Does not block.
  void when_ready(MoveOnlyFunction<void()> done);
  // Calls back when every undo and release so far has been answered, or when node_timeout has
  // passed. Does not block.
  void finish(MoveOnlyFunction<void()> done);

  // What it has done so far, for a program's metrics: figures.h. Does not block; in a forked child
  // it tells the parent's as they were.
  Figures figures() const;

 private:
  class Core;
  friend class Guard;
  explicit Client(std::shared_ptr<Core> core);

  std::shared_ptr<Core> core_;
};

}  // namespace redlock
