// Coverage: what the ledger must hold before anybody is told of a lock (rules R4, R5, R8, F1).
//
// A grant goes out in three steps. Grants puts the lock into the table, and its key into
// uncovered(). When the command or the script has ended, record_deadlines() has the ledger cover
// what it left behind: in a microsecond where that is the latest deadline, at the end of a durable
// write where a bound must be raised. Only then its reply goes out;
// one that waits is withheld here.
//
//   reply = coverage.record_deadlines(session, std::move(reply), now);   // Kind::later: it waits
//
//   if (auto record = coverage.begin_write(now)) …                       // the shell writes it
//
//   coverage.note_write_end(written);
//   for (LateReply& late : coverage.finish_write(now)) …                 // goes out now
//
// To cover is what databases call to make durable before replying;
// the ledger is the write-ahead record.
//
// Pure. Thread safety: none.
#pragma once

#include "base/log.h"
#include "base/time.h"
#include "protocol/resp/reply.h"
#include "protocol/session/session.h"
#include "server/grants/grants.h"
#include "server/observe/client_log.h"
#include "server/observe/stats.h"
#include "server/recovery/ledger_keeper.h"
#include <redlock/result.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::server {

// A reply on the way to the session that waits for it.
struct LateReply {
  protocol::Session::Id session;
  protocol::Reply reply;
};

class Coverage {
 public:
  using SessionId = protocol::Session::Id;

  // All outlive it.
  struct Parts {
    LedgerKeeper& ledger;
    Grants& grants;
    Stats& stats;
    ClientLog& client_log;
    LogSink& log;
  };
  explicit Coverage(Parts parts) : parts_(parts) {}
  Coverage(const Coverage&) = delete;
  Coverage& operator=(const Coverage&) = delete;

  // What the command, or the script, leaves behind is told to the ledger (rule R4): not what it set
  // on the way, so that SETNX and PEXPIRE in one script tell of the second alone. Returns the reply
  // that goes out now, or Kind::later.
  protocol::Reply record_deadlines(SessionId caller, protocol::Reply reply, Now now);
  // A script that is suspended may have told of its locks by then: by PUBLISH, by a keyspace event,
  // to a monitor. That goes out with this turn's bytes, so they are covered as they stand, as far
  // as no bound has to be raised for it (rule R4). What its reply needs is recorded at its end.
  void cover_before_yield(Instant now);
  // A script, or an EXEC, can give the same locks later deadlines without end, and release them.
  // What stays of its uncovered keys takes no more than the locks themselves.
  // Before each of its commands.
  void bound_uncovered(Instant now) {
    if (parts_.grants.uncovered().bytes() > thin_out_at_) [[unlikely]]
      thin_out(now);
  }

  // Whether a reply to this session is withheld until a write has ended.
  bool withholds_reply_of(SessionId session) const;

  // Whether the fencing bound covers this token. If not, a raise is wanted: the command is to be
  // postponed, and comes again when the raise is durable, or when the disk has refused (rule F1).
  enum class Bound { covers, postpone, disk_refuses };
  Bound cover_token(std::uint64_t token, Instant now);
  // Makes a mark durable that says fenced; the same three answers.
  Bound cover_fenced(Instant now);
  // Makes a TTL durable that the node is to wait for; the same.
  Bound cover_ttl(Duration ttl, Instant now);
  // Makes durable what the node must not forget of its group, one step at a time: while another
  // step is on its way to the disk this one is postponed, and is to be thought over again.
  Bound cover_roster(const RosterRecord& roster, Instant now);

  // The next durable write, one at a time, and how it ended.
  std::optional<DurableRecord> begin_write(Instant now);
  void note_write_end(const Status& written) { ended_write_ = written; }
  bool has_ended_write() const { return ended_write_.has_value(); }
  // Not in the middle of a script: a lock that is taken back may be one that it has looked at, or
  // overwritten. Returns the replies that waited for the write. REQUIRES: has_ended_write().
  std::vector<LateReply> finish_write(Now now);

  // Lowers what the ledger holds to what is live (rules R5, R8). Not while the start still writes
  // to the ledger, on a thread of its own.
  void lower(Instant now);
  // When lower() will have something to do.
  std::optional<Instant> next_lower() const;

 private:
  // A reply that must not go out before the ledger covers what its command left behind.
  struct WithheldReply {
    SessionId session;
    protocol::Reply reply;
    std::vector<std::string> keys;
    Instant executed_at;
    std::string refusal = {};  // why a lock that it tells of was revoked; empty: none was
  };

  void thin_out(Instant now);
  protocol::Reply record(SessionId caller, protocol::Reply reply, std::span<const std::string> keys,
                         Instant now);
  protocol::Reply revoke(std::span<const std::string> keys, std::string_view why, Instant now);
  protocol::Reply settle(WithheldReply withheld, const Status& written, Instant now);
  Bound ask_disk(Instant now) const;
  // A wait that an earlier run is owed, or a former roster, stands in the ledger until its end
  // (rules R3, G2).
  Instant lower_from() const { return std::max(lower_at_, parts_.grants.snapshot_from()); }

  Parts parts_;
  std::size_t covered_early_ = 0;  // so many of the uncovered, by a script that is suspended
  static constexpr std::size_t kThinOutAt = 1024 * 1024;
  std::size_t thin_out_at_ = kThinOutAt;  // bytes of the uncovered
  std::vector<WithheldReply> withheld_;
  std::optional<Status> ended_write_;
  Instant lower_at_{};  // not before
};

}  // namespace redlock::server
