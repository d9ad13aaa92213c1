// CLIENT's subcommands: what a client says of itself, and what operators see and end.
#include "base/text/number.h"
#include "base/text/words.h"
#include "protocol/resp/errors.h"
#include "protocol/resp/limits.h"
#include "protocol/session/session_commands.h"

#include <optional>
#include <set>

#include <fmt/format.h>

namespace redlock::protocol {
namespace {

std::int64_t whole_seconds(Duration d) {
  return d / std::chrono::seconds(1);
}

// In Redis's order.
std::string client_flags(const Session& session) {
  std::string flags;
  if (session.is_in(Session::kMonitoring)) flags += 'O';
  if (session.is_listening()) flags += 'P';
  if (session.transaction() != nullptr) flags += 'x';
  if (session.is_waiting()) flags += 'b';
  if (session.watch_is_broken) flags += 'd';
  if (session.is_closing()) flags += 'c';
  if (session.peer().address.starts_with('/')) flags += 'U';
  if (session.no_evict) flags += 'e';
  if (session.no_touch) flags += 'T';
  return flags.empty() ? "N" : flags;
}

// CLIENT KILL's and LIST's conditions; a client must meet all that are given.
struct ClientFilter {
  std::set<Session::Id> ids;
  std::optional<std::string_view> address;
  std::optional<std::string_view> local_address;
  std::optional<std::string_view> user;
  bool only_other_kinds = false;  // a TYPE that no client here is: replica, master
  std::optional<bool> listens;    // TYPE pubsub or normal
  bool skip_self = true;

  bool matches(const Session& session) const {
    if (only_other_kinds || session.cut() != Session::Cut::no) return false;
    if (listens && *listens != session.is_listening()) return false;
    if (!ids.empty() && !ids.contains(session.id())) return false;
    if (user && *user != session.user_name()) return false;
    if (address && *address != session.peer().address) return false;
    return !local_address || *local_address == session.peer().local_address;
  }
};

std::optional<Reply> read_type(std::string_view type, ClientFilter& filter) {
  for (const std::string_view other : {"master", "replica", "slave"}) {
    if (equals_ignoring_case(type, other)) {
      filter.only_other_kinds = true;
      return std::nullopt;
    }
  }
  const bool is_pubsub = equals_ignoring_case(type, "pubsub");
  if (is_pubsub || equals_ignoring_case(type, "normal")) {
    filter.listens = is_pubsub;
    return std::nullopt;
  }
  return Reply::error(fmt::format("ERR Unknown client type '{}'", echoed(type)));
}

std::optional<Reply> read_kill_option(const Users& users, std::string_view option,
                                      std::string_view value, ClientFilter& filter) {
  if (equals_ignoring_case(option, "ID")) {
    const auto id = parse_int64(value);
    if (!id || *id < 1) return Reply::error_view("ERR client-id should be greater than 0");
    filter.ids = {*id};  // named twice, the last one counts
  } else if (equals_ignoring_case(option, "ADDR")) {
    filter.address = value;
  } else if (equals_ignoring_case(option, "LADDR")) {
    filter.local_address = value;
  } else if (equals_ignoring_case(option, "TYPE")) {
    return read_type(value, filter);
  } else if (equals_ignoring_case(option, "USER")) {
    if (users.find(value) == nullptr) {
      return Reply::error(fmt::format("ERR No such user '{}'", echoed(value)));
    }
    filter.user = value;
  } else if (equals_ignoring_case(option, "SKIPME")) {
    if (equals_ignoring_case(value, "yes")) {
      filter.skip_self = true;
    } else if (equals_ignoring_case(value, "no")) {
      filter.skip_self = false;
    } else {
      return Reply::error_view(kSyntaxError);
    }
  } else {
    return Reply::error_view(kSyntaxError);
  }
  return std::nullopt;
}

std::int64_t kill_matching(SessionCall& call, const ClientFilter& filter) {
  std::int64_t killed = 0;
  for (const auto& [id, session] : call.sessions.all()) {
    if (!filter.matches(*session)) continue;
    if (filter.skip_self && session.get() == &call.session) continue;
    const bool is_self = session.get() == &call.session;  // hears of it
    is_self ? session->close_after_output() : session->cut_off(Session::Cut::killed);
    ++killed;
  }
  return killed;
}

Reply set_switch(SessionCall& call, bool& target) {
  if (equals_ignoring_case(call.words[2], "ON")) {
    target = true;
  } else if (equals_ignoring_case(call.words[2], "OFF")) {
    target = false;
  } else {
    return Reply::error_view(kSyntaxError);
  }
  return Reply::ok();
}

}  // namespace

// Its output: obl is of this turn, omem what the peer has not taken, in oll pieces. Fields that
// have no meaning here stand at Redis's idle values, so that tools which look for them find them.
std::string client_line(const Session& session, Instant now) {
  const auto& peer = session.peer();
  const Transaction* queue = session.transaction();
  const std::size_t queue_bytes = queue != nullptr ? queue->bytes() : 0;
  const Transport* transport = session.transport;
  return fmt::format(
      "id={} addr={} laddr={} fd={} name={} age={} idle={} flags={} db=0 sub={} psub={} ssub={} "
      "multi={} watch={} "
      "qbuf={} qbuf-free=0 argv-mem=0 multi-mem={} rbs=0 rbp=0 obl={} oll={} omem={} tot-mem={} "
      "events=r cmd={} user={} redir=-1 resp={} lib-name={} lib-ver={}",
      session.id(), peer.address, peer.local_address, peer.descriptor, session.name,
      whole_seconds(now - session.opened()), whole_seconds(now - session.last_request()),
      client_flags(session), session.listens_to.channels, session.listens_to.patterns,
      session.listens_to.shard_channels,
      queue != nullptr ? static_cast<std::int64_t>(queue->size()) : -1, session.watched_keys,
      session.backlog_bytes(), queue_bytes, session.output().size(),
      transport != nullptr ? transport->unsent_pieces() : 0,
      transport != nullptr ? transport->unsent_bytes() : 0, session.memory_bytes(),
      session.last_command, session.user_name(), static_cast<int>(session.version()),
      session.library_name, session.library_version);
}

std::optional<Reply> refuse_client_word(std::string_view what, std::string_view word) {
  if (!is_printable_word(word)) {
    return Reply::error(
        fmt::format("ERR {} cannot contain spaces, newlines or special characters.", what));
  }
  if (word.size() <= kClientWordBytesMax) return std::nullopt;
  return Reply::error(
      fmt::format("ERR {} cannot be longer than {} bytes.", what, kClientWordBytesMax));
}

Reply client_id(SessionCall& call) {
  return Reply::integer(call.session.id());
}

Reply client_getname(SessionCall& call) {
  return call.session.name.empty() ? Reply::null() : Reply::bulk(call.session.name);
}

Reply client_setname(SessionCall& call) {
  if (auto refusal = refuse_client_word("Client names", call.words[2])) return std::move(*refusal);
  call.session.name = call.words[2];
  return Reply::ok();
}

Reply client_setinfo(SessionCall& call) {
  const std::string_view option = call.words[2];
  const std::string_view value = call.words[3];
  const bool is_name = equals_ignoring_case(option, "LIB-NAME");
  if (!is_name && !equals_ignoring_case(option, "LIB-VER")) {
    return Reply::error(fmt::format("ERR Unrecognized option '{}'", echoed(option)));
  }
  if (auto refusal = refuse_client_word(echoed(option), value)) return std::move(*refusal);
  (is_name ? call.session.library_name : call.session.library_version) = value;
  return Reply::ok();
}

Reply client_info(SessionCall& call) {
  return Reply::verbatim(client_line(call.session, call.now.monotonic) + "\n");
}

// CLIENT LIST [TYPE normal|master|replica|pubsub] [ID id [id ...]]
Reply client_list(SessionCall& call) {
  ClientFilter filter;
  const Request words = call.words;
  if (words.size() == 4 && equals_ignoring_case(words[2], "TYPE")) {
    if (auto problem = read_type(words[3], filter)) return std::move(*problem);
  } else if (words.size() > 3 && equals_ignoring_case(words[2], "ID")) {
    for (const std::string_view word : words.subspan(3)) {
      const auto id = parse_int64(word);
      if (!id) return Reply::error_view("ERR Invalid client ID");
      filter.ids.insert(*id);
    }
  } else if (words.size() != 2) {
    return Reply::error_view(kSyntaxError);
  }
  std::string lines;
  for (const auto& [id, session] : call.sessions.all()) {
    if (filter.matches(*session)) lines += client_line(*session, call.now.monotonic) + "\n";
  }
  return Reply::verbatim(std::move(lines));
}

// The old form names an address and answers OK; the new one counts.
Reply client_kill(SessionCall& call) {
  ClientFilter filter;
  const Request words = call.words;
  if (words.size() == 3) {
    filter.address = words[2];
    filter.skip_self = false;
    if (kill_matching(call, filter) == 0) return Reply::error_view("ERR No such client");
    return Reply::ok();
  }
  for (std::size_t i = 2; i < words.size(); i += 2) {
    if (i + 1 == words.size()) return Reply::error_view(kSyntaxError);
    const Users& users = call.access.users();
    if (auto problem = read_kill_option(users, words[i], words[i + 1], filter)) {
      return std::move(*problem);
    }
  }
  return Reply::integer(kill_matching(call, filter));
}

// OFF and SKIP are not answered themselves.
Reply client_reply(SessionCall& call) {
  if (equals_ignoring_case(call.words[2], "ON")) {
    call.session.set_answers(Session::Answers::told);
    return Reply::ok();
  }
  if (equals_ignoring_case(call.words[2], "OFF")) {
    call.session.set_answers(Session::Answers::dropped);
    return Reply::none();
  }
  if (equals_ignoring_case(call.words[2], "SKIP")) {
    call.session.set_answers(Session::Answers::next_dropped);
    return Reply::none();
  }
  return Reply::error_view(kSyntaxError);
}

Reply client_no_evict(SessionCall& call) {
  return set_switch(call, call.session.no_evict);
}

Reply client_no_touch(SessionCall& call) {
  return set_switch(call, call.session.no_touch);
}

}  // namespace redlock::protocol
