// Session: one client of a node or of a front door, without its socket.
//
// Bytes in, commands out, replies in, bytes out:
//
//   session.receive(bytes, now, service);     // parses, calls service.execute for each request
//   socket.write(session.output().view());    // what the replies came to; then output().clear()
//   if (session.is_closing()) …               // close once the output has gone out
//
// A request whose reply is Kind::later leaves the session waiting: what follows is kept, unread,
// until resume() brings the reply. Kind::postponed leaves it waiting too, with the request itself
// kept: retry() executes it. One that has had its share of a turn is told to give_way(): what it
// sent beyond is kept until go_on().
//
// A session whose answers are not taken executes nothing more: while kUnsentBytesMax and more have
// not gone out (note_unsent), what the client sends beyond is kept, too; then it has its next turn.
//
// Most sessions are plain: each request is executed as it comes. A Mode is what makes whoever
// executes look twice.
//
// Thread safety: none. Invariant: while waiting, no request of this session runs.
#pragma once

#include "base/time.h"
#include "protocol/resp/limits.h"
#include "protocol/resp/output_buffer.h"
#include "protocol/resp/reply.h"
#include "protocol/resp/reply_writer.h"
#include "protocol/resp/request_batch.h"
#include "protocol/resp/request_parser.h"
#include "protocol/session/transaction.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace redlock::protocol {

class Session;
class Sessions;
class User;

// Whether CLIENT LIST's lines stay readable with this word in them: ASCII, no blanks.
bool is_printable_word(std::string_view text);

// Whoever executes: the node, the front door.
class Service {
 public:
  virtual ~Service() = default;
  // `now` was read after the last byte of the request had come (rule C4).
  virtual Reply execute(Session& session, Request request, Now now) = 0;
  // These will most likely be executed next, one after the other.
  virtual void expect(std::span<const Request> requests) { static_cast<void>(requests); }
};

// The shell's connection of a session: what it has of the session's output and could not send yet.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual std::size_t unsent_bytes() const { return 0; }
  virtual std::size_t unsent_pieces() const { return 0; }
};

struct Peer {
  std::string address;  // "127.0.0.1:40312", for CLIENT LIST
  std::string local_address;
  int descriptor = -1;
  bool is_local = true;
};

class Session {
 public:
  using Id = std::int64_t;

  // Bits, so that one look tells a plain session.
  enum Mode : std::uint8_t {
    kInTransaction = 1u << 0,  // requests are queued
    kMonitoring = 1u << 1,     // sees what others do, and touches no key
    kListening = 1u << 2,      // to channels or patterns
    kDebugging = 1u << 3,      // SCRIPT DEBUG: its next script is meant for a debugger
    kRestricted = 1u << 4,     // its user has not all rights: each command is looked at
  };
  // CLIENT REPLY: what becomes of the answers to its requests. Pushes are no answers.
  enum class Answers : std::uint8_t { told, dropped, next_dropped };
  // Why a connection ends at once, with what it was yet to be told.
  enum class Cut : std::uint8_t { no, killed, reply_too_large, took_most };

  Session(Sessions& home, Id id, Peer peer, bool authenticated, Instant opened);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // What comes while waiting is kept up to kRequestBytesMax; a client that sends more is closed.
  void receive(std::string_view bytes, Now now, Service& service);
  // The reply that a Kind::later promised; goes on with what had come meanwhile.
  void resume(const Reply& reply, Now now, Service& service);
  // Executes the request that was postponed, and what had come after it.
  void retry(Now now, Service& service);
  // By whoever executes, for the sake of other sessions: the request under way is the last of this
  // turn; if it is postponed, it comes again. go_on() is the next turn.
  void give_way() { waiting_for_ = WaitingFor::turn; }
  void go_on(Now now, Service& service);
  // The reply that a Kind::later promised, at the end of a turn.
  void answer_and_give_way(const Reply& reply);
  // A reply of no request: a refusal at the door, a push.
  void write(const Reply& reply);
  // The same to one that is told what others do, and may not read it: more than so many bytes
  // unread close it, 0: any. Nothing, if it is closing.
  void tell(const Reply& reply, std::size_t unread_bytes_max);
  // The answer to a request, unless the client wants none (CLIENT REPLY).
  void answer(const Reply& reply);
  // Nothing more is read; the connection ends when the output has gone out, or after some time in
  // which the peer does not take it.
  void close_after_output();
  // The connection ends now.
  void cut_off(Cut why);
  Cut cut() const { return cut_; }
  std::size_t bytes_when_cut() const { return bytes_when_cut_; }

  // The shell took the output, and so much of it, or of what it took before, has not gone out yet.
  void note_unsent(std::size_t bytes);
  // Whether requests are kept because the answers before them had not gone out. It has no turn yet.
  bool is_held_back() const { return is_held_back_ && !is_waiting(); }
  bool has_room() const { return output_.size() + unsent_bytes_ < kUnsentBytesMax; }

  OutputBuffer& output() { return output_; }
  const OutputBuffer& output() const { return output_; }
  bool is_waiting() const { return waiting_for_ != WaitingFor::nothing; }
  bool is_postponed() const { return waiting_for_ == WaitingFor::retry; }
  bool has_given_way() const { return waiting_for_ == WaitingFor::turn; }
  bool is_closing() const { return closing_; }
  std::size_t backlog_bytes() const { return backlog_.size(); }
  // With all that it keeps, and what is kept for it.
  std::size_t memory_bytes() const;

  Id id() const { return id_; }
  const Peer& peer() const { return peer_; }
  Version version() const { return version_; }
  void set_version(Version version) { version_ = version; }
  bool is_authenticated() const { return authenticated_; }
  void set_authenticated(bool authenticated);
  // Whose it is; nullptr: nobody's, who has all rights, as a test's or an inner one. Follows it up
  // when the user's rights change.
  void set_user(std::shared_ptr<const User> user);
  const User* user() const { return user_.get(); }
  const std::shared_ptr<const User>& shared_user() const { return user_; }
  std::string_view user_name() const;
  void note_user_changed();
  bool is_restricted() const { return is_in(kRestricted); }
  // As a new connection, but for its id and its history (RESET); its user is the caller's matter.
  void reset(bool authenticated);

  bool is_plain() const { return modes_ == 0; }
  bool is_in(Mode mode) const { return (modes_ & mode) != 0; }
  void enter(Mode mode) { modes_ |= mode; }
  void leave(Mode mode) { modes_ &= static_cast<std::uint8_t>(~mode); }

  // Between MULTI and EXEC; nullptr: not.
  Transaction* transaction() { return transaction_.get(); }
  const Transaction* transaction() const { return transaction_.get(); }
  void begin_transaction();
  // Ends it; the caller has what was queued.
  std::unique_ptr<Transaction> take_transaction();

  void set_answers(Answers answers);

  Instant opened() const { return opened_; }
  Instant last_request() const { return last_request_; }

  // What the client says of itself, and what CLIENT LIST tells; meaningless to the session.
  std::string name;
  std::string library_name;
  std::string library_version;
  std::string_view last_command = "NULL";    // the name in a CommandSpec
  std::optional<std::uint64_t> group_epoch;  // a coordinator's (LOCK.GROUP HELLO)
  bool no_evict = false;
  bool no_touch = false;
  std::uint32_t refused_passwords = 0;  // since it gave the right one
  std::uint32_t watched_keys = 0;
  bool watch_is_broken = false;  // one of them changed: EXEC will do nothing
  bool is_paused = false;        // the request that was postponed waits for the end of CLIENT PAUSE
  Instant waits_behind_until{};  // it held others up: what it sends by then comes behind theirs

  // Pub/sub: how much it listens to. Kept by whoever keeps the subscriptions.
  struct ListensTo {
    std::uint32_t channels = 0;
    std::uint32_t patterns = 0;
    std::uint32_t shard_channels = 0;
    bool nothing() const { return (channels | patterns | shard_channels) == 0; }
  } listens_to;
  bool is_listening() const { return is_in(kListening); }

  // Bytes that others keep for it: watches, subscriptions, waits.
  std::size_t kept_bytes = 0;

  Transport* transport = nullptr;  // the shell's; nullptr: all that it takes is sent
  bool client_is_gone = false;     // nobody reads what it writes (SessionHost)

 private:
  friend class Sessions;
  enum class WaitingFor : std::uint8_t { nothing, reply, retry, turn };

  void take(std::string_view bytes, Now now, Service& service);
  std::size_t consume(std::string_view bytes, Now now, Service& service);
  void write_pushes(const Reply& reply);
  std::size_t execute(const RequestBatch& batch, Now now, Service& service);
  bool execute(Request request, Now now, Service& service);
  bool executes() const { return !is_waiting() && !closing_ && has_room(); }
  void write_large(const Reply& reply);
  void touch();
  void settle_bytes();

  Sessions& home_;
  Id id_;
  Peer peer_;
  Instant opened_;
  Instant last_request_;
  Version version_ = Version::resp2;
  bool authenticated_;
  std::shared_ptr<const User> user_;
  WaitingFor waiting_for_ = WaitingFor::nothing;
  bool closing_ = false;
  bool is_held_back_ = false;
  Cut cut_ = Cut::no;
  bool touched_ = false;        // stands in home_'s list of sessions that the shell has to look at
  std::size_t touched_at_ = 0;  // where
  std::uint8_t modes_ = 0;      // Mode
  Answers answers_ = Answers::told;
  bool drops_this_answer_ = false;  // the request before it was CLIENT REPLY SKIP
  std::unique_ptr<Transaction> transaction_;
  RequestParser parser_;
  std::string backlog_;  // received, not yet understood or not yet due
  OutputBuffer output_;
  std::size_t unsent_bytes_ = 0;
  std::size_t settled_bytes_ = 0;  // as home_ counts them
  std::size_t bytes_when_cut_ = 0;
};

}  // namespace redlock::protocol
