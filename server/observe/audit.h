// Audit: who did what others have to answer for: broke a lock that another took, gave a wrong
// password, changed a setting, stopped the node. A line for each, in the log or in a file of its
// own (settings `audit` and `audit-format`).
//
//   if (audit.is_on()) audit.tell(Audit::Event::shutdown, who, {{"mode", "NOSAVE"}}, now);
//
// A line names whom and what it was done to, never a value: whoever knows a lock's value may act in
// its holder's name. Its holder is told by value_hash(), so that who has the value can find it:
//
//   time=2026-11-26T18:06:26.123Z event=lock-broken client=10.0.0.7:50312 id=7 name=web
//   command=DEL key=printer holder=522b276a356bdf39 label=backup@web3:4711    (in one line)
//
// What of it came from outside is cut and escaped: no name makes a second line, or a field that it
// does not stand for. Lines are counted, those too many are left out (kLinesASecond), and the count
// is a line.
//
// Pure. Thread safety: none.
#pragma once

#include "base/line_limit.h"
#include "base/log.h"
#include "base/time.h"
#include "protocol/session/session.h"
#include "server/settings/settings.h"

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::server {

class Audit {
 public:
  enum class Event {
    lock_broken,       // it was another's, and ended, changed or got an earlier deadline
    break_refused,     // it would have: hold-strict
    password_refused,  // AUTH, HELLO
    setting_changed,   // CONFIG SET
    acl_changed,       // users and rights
    shutdown,
    events,
  };
  // Of each event. A script that ends the locks of a screen is told line by line; a flood that goes
  // on all day makes a file of a gigabyte, where a disk of a machine with a node has some.
  static constexpr std::uint64_t kLinesASecond = 50;
  // Of a name: more would be the name's text and not a name. With all bytes escaped a line of
  // several names is shorter than a log takes.
  static constexpr std::size_t kNameBytesMax = 128;

  // Of the client, as CLIENT LIST tells it.
  struct Who {
    std::string_view address;
    protocol::Session::Id id = 0;
    std::string_view name;  // CLIENT SETNAME; it may be any
    std::string_view user;  // empty: the default one
  };
  // Of one who goes while what he has sent goes on.
  struct KeptWho {
    std::string address;
    protocol::Session::Id id = 0;
    std::string name;
    std::string user;

    explicit KeptWho(const Who& who)
        : address(who.address), id(who.id), name(who.name), user(who.user) {}
    Who who() const { return {address, id, name, user}; }
  };
  struct Field {
    std::string_view name;
    std::string_view value;
  };
  using Fields = std::initializer_list<Field>;

  // sink outlives it; nullptr: nobody wants to know.
  Audit(LogSink* sink, AuditFormat format) : sink_(sink), format_(format) {}
  Audit(const Audit&) = delete;
  Audit& operator=(const Audit&) = delete;

  bool is_on() const { return sink_ != nullptr; }
  // Lines that the file did not take, as on a full disk; of `log`, with the log's others.
  std::uint64_t lines_lost() const { return is_on() ? sink_->lines_lost() : 0; }

  // Whether a line of this event may stand in the audit now; if not, it counts as left out. For who
  // has to make its fields first: tell() asks by itself.
  bool takes(Event event, Now now);
  // REQUIRES: takes() said so just now.
  void tell_taken(Event event, const Who& who, Fields fields, WallTime now);
  void tell(Event event, const Who& who, Fields fields, Now now) {
    if (takes(event, now)) tell_taken(event, who, fields, now.wall);
  }

  // The numbers of lines that were left out, where they are due.
  void tell_left_out(Now now);
  std::optional<Instant> next_work() const;

  // The first 16 digits of its SHA-1: of `printf %s "$value" | sha1sum`.
  static std::string value_hash(std::string_view value);

 private:
  static constexpr std::size_t kEvents = static_cast<std::size_t>(Event::events);

  void tell_left_out(std::size_t event, Now now);
  void write(std::span<const Field> fields, WallTime now);

  LogSink* const sink_;
  const AuditFormat format_;
  std::vector<LineLimit> limits_ = std::vector<LineLimit>(kEvents, LineLimit(kLinesASecond));
};

}  // namespace redlock::server
