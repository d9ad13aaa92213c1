// What clients send to a front door: whose work each command is, and LOCK.*.
#include "base/text/words.h"
#include "coordinator/front_door/front_door.h"
#include "coordinator/front_door/records/door_commands.h"
#include "coordinator/front_door/served/door_errors.h"
#include "coordinator/front_door/served/fenced_bodies.h"
#include "protocol/resp/errors.h"
#include "server/commands/replies.h"
#include "server/commands/ttl.h"
#include "server/settings/piece.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace redlock::coordinator {

using protocol::Refusal;
using protocol::Reply;
using protocol::Request;
using protocol::Session;
using server::Call;

namespace {

constexpr std::string_view kRequestTooLong = "ERR this request is longer than a front door takes";

std::size_t bytes_of(Request words) {
  std::size_t bytes = 0;
  for (const std::string_view word : words) bytes += word.size();
  return bytes;
}

// What a door's locks go by is decided by its nodes, or where it is started.
constexpr std::string_view kNodesSettings[] = {"max-ttl",
                                               "require-ttl",
                                               "restart-delay",
                                               "restart-reply",
                                               "clock-drift",
                                               "maxmemory",
                                               "fence-block",
                                               "wake-next-after",
                                               "value-size-limit",
                                               "busy-reply-threshold",
                                               "script-time-limit",
                                               "dir",
                                               "eval",
                                               "notify-keyspace-events"};

bool is_nodes_setting(std::string_view name) {
  return std::any_of(std::begin(kNodesSettings), std::end(kNodesSettings),
                     [&](std::string_view other) { return equals_ignoring_case(name, other); });
}

Reply set_config(Call& call) {
  for (std::size_t i = 2; i < call.words.size(); i += 2) {
    if (!is_nodes_setting(call.word(i))) continue;
    return Reply::error(fmt::format(
        "ERR {} is not for a front door's clients to set: see its command line, and its nodes",
        protocol::echoed(call.word(i), 64)));
  }
  return node_command("config|set").run(call);
}

server::TtlReading read_px(const Call& call) {
  if (!equals_ignoring_case(call.word(3), "PX")) {
    return {{}, Reply::error_view(protocol::kSyntaxError)};
  }
  return read_ttl(call, call.word(4), server::TtlForm::milliseconds, server::NonPositive::refused);
}

// Behind the TTL of LOCK.ACQUIRE.
struct AcquireOptions {
  std::string_view label = {};
  std::optional<Duration> wait = {};
};

// [LABEL text] [WAIT ms], in any order, each once.
Refusal read_options(const Call& call, AcquireOptions& options) {
  bool has_label = false;
  for (std::size_t at = 5; at < call.words.size(); at += 2) {
    const bool is_wait = equals_ignoring_case(call.word(at), "WAIT");
    const bool is_second = is_wait ? options.wait.has_value() : std::exchange(has_label, true);
    if (is_second || at + 1 == call.words.size()) return Reply::error_view(protocol::kSyntaxError);
    if (!is_wait) {
      Refusal no = server::read_label(call.word(at), call.word(at + 1), options.label);
      if (no) return no;
      continue;
    }
    server::WaitReading wait = server::read_wait(call.word(at + 1));
    if (wait.refusal) return std::move(wait.refusal);
    options.wait = wait.timeout;
  }
  return std::nullopt;
}

}  // namespace

Reply FrontDoor::execute(Call& call) {
  const std::string_view name = call.command.spec.name;
  if (call.command.spec.group == "lock") return serve_locks(call);
  if (call.command.spec.group == "transactions") return serve_transactions(call);
  if (call.command.spec.group == "pubsub") return publish(call);
  if (name == "info") return info(call);
  if (name == "config|set") return set_config(call);
  if (name == "config|resetstat") return forget_figures(call);
  if (name == "reset") return reset(call);
  const bool is_script = name == "eval" || name == "evalsha";
  if (is_script && call.session.is_in(Session::kDebugging)) return node_command(name).run(call);
  return serve_on_scratch(call);
}

Reply FrontDoor::reset(Call& call) {
  const bool is_much = wishes_of(call.session) > server::kNamesOfPiece;
  if (is_much && forget_some(call.session, server::kNamesOfPiece) > 0) {
    return node_.turns().in_next_turn(call.session, call.instant());
  }
  watched_.forget(call.session.id());
  waiting_.forget(call.session.id());
  return node_command("reset").run(call);
}

// It begins in act(), and is answered there.
Reply FrontDoor::serve(Call& call, std::unique_ptr<CommandBody> body) {
  return serve(call, std::move(body), bytes_of(call.words));
}

Reply FrontDoor::serve(Call& call, std::unique_ptr<CommandBody> body, std::size_t bytes) {
  if (is_stopping_ && body->only_takes()) return Reply::error_view(kDoorStops);
  keep_request(call.session, bytes);
  begin({call.session.id(), std::move(body), bytes});
  return Reply::later();
}

// What the door and its groups count begins anew, as what its sessions' node counts.
Reply FrontDoor::forget_figures(Call& call) {
  stats_ = {};
  group_.forget_figures();
  message_group_.forget_figures();
  relay_.forget_figures();
  return node_command("config|resetstat").run(call);
}

// Without a stopwatch nothing gives way.
void FrontDoor::begin(NewCommand command) {
  const Session* const of = node_.sessions().find(command.session);
  if (of != nullptr && of->is_restricted() && of->user()->limits().max_locks > 0) {
    command.body->set_taker(of->shared_user());
  }
  begun_for_.insert(command.session);
  if (stopwatch_ && command.body->may_take_long()) return slow_.push(std::move(command));
  begun_.push_back(std::move(command));
}

// While somebody waits for a lock, it is held, or is about to be (rule D10).
Reply FrontDoor::serve_on_scratch(Call& call) {
  if (auto body = fenced_body(scratch_, call)) return serve(call, std::move(body));
  std::unique_ptr<CommandBody> body = scratch_body(scratch_, call, relay_);
  if (body == nullptr) return Reply::error_view(kRequestTooLong);
  if (body->is_plain_try() && call.words.size() > 1 &&
      waiting_.has_takers(std::string(call.word(1)))) {
    const KnownRecord held{call.word(1),
                           SeenRecord{.payload = {}, .deadline = call.instant() + 1ms}, nullptr};
    RunResult run = body->run({&held, 1}, call.now);
    ++stats_.refused_held;
    return body->reply(run, {}, call.now);
  }
  return serve(call, std::move(body));
}

// A request that is served stands no more among what its session has received.
void FrontDoor::keep_request(Session& session, std::size_t bytes) {
  session.kept_bytes += bytes;
  kept_[session.id()] += bytes;
}

void FrontDoor::forget_request(Session& session) {
  const auto kept = kept_.find(session.id());
  if (kept == kept_.end()) return;
  session.kept_bytes -= kept->second;
  kept_.erase(kept);
}

// --- messages

// The listeners of this door are told as those of a node are, and counted. Until those of the
// message before are all told, the command waits for its turn, and comes again.
Reply FrontDoor::publish(Call& call) {
  const std::uint64_t bytes_max = settings_.value_size_limit;
  if (Refusal no = refuse_message(call.word(1), call.word(2), bytes_max)) return no;
  const bool comes_again = node_.pubsub().is_full();
  Reply reply = node_command(call.command.spec.name).run(call);
  if (!comes_again && !reply.is_error()) {
    relay_.tell_others({kind_of(call), std::string(call.word(1)), std::string(call.word(2))});
  }
  return reply;
}

// --- transactions

Reply FrontDoor::serve_transactions(Call& call) {
  const std::string_view name = call.command.spec.name;
  if (name == "exec") return exec(call);
  if (name == "watch") return watch(call);
  if (name == "discard") {
    if (call.session.transaction() == nullptr) {
      return Reply::error_view("ERR DISCARD without MULTI");
    }
    call.session.take_transaction();
  }
  take_watched(call.session);
  return Reply::ok();
}

Reply FrontDoor::exec(Call& call) {
  if (call.session.transaction() == nullptr) return Reply::error_view("ERR EXEC without MULTI");
  std::unique_ptr<protocol::Transaction> queue = call.session.take_transaction();
  std::vector<WatchedRecord> watched = take_watched(call.session);
  if (queue->is_broken()) return Reply::error_view(server::kExecAborted);
  const std::size_t bytes = queue->bytes();
  // By the clock of the sessions, which is not that of the locks.
  const auto run_queued = [this, id = call.session.id()](protocol::Request request) {
    Session* session = node_.sessions().find(id);
    if (session == nullptr) return Reply::null();
    return node_.run_queued(*session, request, now_);
  };
  auto body =
      exec_body(scratch_, std::move(queue), std::move(watched), run_queued, call.session, relay_);
  return serve(call, std::move(body), bytes);
}

Reply FrontDoor::watch(Call& call) {
  if (call.session.transaction() != nullptr) {
    return Reply::error_view("ERR WATCH inside MULTI is not allowed");
  }
  std::vector<std::string> keys;
  for (const std::string_view key : call.words.subspan(1)) {
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.emplace_back(key);
    if (keys.size() > kWatchedKeysMax) break;
  }
  const std::size_t watched =
      call.session.watched_keys > 0 ? watched_.count_of(call.session.id()) : 0;
  if (watched + keys.size() > kWatchedKeysMax) {
    return Reply::error(
        fmt::format("ERR a connection may watch {} keys at a front door", kWatchedKeysMax));
  }
  const Session::Id id = call.session.id();
  return serve(call, watch_body(std::move(keys), [this, id](std::vector<WatchedRecord> records) {
                 if (Session* session = node_.sessions().find(id))
                   keep(*session, std::move(records));
               }));
}

// The sessions' node watches the same keys, of which it has none: it knows all ways in which a
// transaction ends, as by an EXEC that it refuses. What it forgot is forgotten here.
void FrontDoor::keep(Session& session, std::vector<WatchedRecord> records) {
  if (session.watched_keys == 0) watched_.forget(session.id());
  for (WatchedRecord& record : records) {
    if (!node_.watches().add(session, record.key, now_.monotonic)) continue;
    watched_.add(session.id(), std::move(record));
  }
}

std::vector<WatchedRecord> FrontDoor::take_watched(Session& session) {
  std::vector<WatchedRecord> watched = watched_.take(session.id());
  if (session.watched_keys == 0) return {};
  node_.watches().forget(session);
  return watched;
}

// --- LOCK.*

Reply FrontDoor::serve_locks(Call& call) {
  const std::string_view name = call.command.spec.name;
  if (name == "lock.status") return lock_status(call);
  if (name == "lock.wait") return lock_wait(call);
  if (name == "lock.holder") return serve(call, holder_body(std::string(call.word(1))));
  if (name == "lock.acquire") return lock_acquire(call);
  if (name == "lock.extend") return lock_extend(call);
  INVARIANT(name == "lock.release", "a command of LOCK that nobody serves");
  return serve(call, release_body(std::string(call.word(1)), std::string(call.word(2))));
}

Reply FrontDoor::lock_extend(Call& call) {
  server::TtlReading ttl = read_px(call);
  if (ttl.refusal) return std::move(ttl.refusal);
  return serve(call,
               extend_body(std::string(call.word(1)), std::string(call.word(2)), ttl.remaining));
}

Reply FrontDoor::lock_acquire(Call& call) {
  if (Refusal no = node_.grants().refuse_size(call.word(1), call.word(2))) return no;
  server::TtlReading ttl = read_px(call);
  if (ttl.refusal) return std::move(ttl.refusal);
  AcquireOptions options;
  if (Refusal no = read_options(call, options)) return no;
  const std::string key(call.word(1));
  const std::string value(call.word(2));
  const std::string label(options.label);
  if (!options.wait) {
    const Take take = waiting_.has_takers(key) ? Take::looks : Take::takes;
    return serve(call, acquire_body(key, value, ttl.remaining, label, take));
  }
  if (is_stopping_) return Reply::error_view(kDoorStops);
  const Instant deadline = later(call.instant(), *options.wait);
  const Session::Id id = call.session.id();
  if (!waiting_.add(id, WaitingClients::Form::acquire, key, deadline)) {
    return Reply::error_view(kTooManyWait);
  }
  wanted_[id] = {key, value, ttl.remaining, label};
  keep_request(call.session, bytes_of(call.words));
  return Reply::later();
}

// The last attempt of one who does not stand first takes nothing: those before it came earlier.
void FrontDoor::try_again(Session::Id session, WaitingClients::Told told) {
  Wanted& wanted = wanted_.at(session);
  wanted.is_last = told != WaitingClients::Told::try_now;
  const Take take = told == WaitingClients::Told::over_behind ? Take::looks : Take::takes;
  begin({session, acquire_body(wanted.key, wanted.value, wanted.ttl, wanted.label, take)});
}

// Its user may have lost his rights while it waited, or the TTL that it asked for.
Refusal FrontDoor::refuse_waiter(Session& session, const WaitingClients::News& news) {
  const bool wants_lock = news.form == WaitingClients::Form::acquire;
  if (wants_lock && is_stopping_) return Reply::error_view(kDoorStops);
  const std::array<std::string_view, 5> acquire = {"lock.acquire", news.key, "", "PX", "1"};
  const std::array<std::string_view, 3> wait = {"lock.wait", news.key, "0"};
  Refusal no = node_.refuse_late(session, wants_lock ? Request(acquire) : Request(wait), now_);
  if (no || !wants_lock) return no;
  server::Grants& grants = node_.grants();
  const protocol::User* const before = grants.set_holder(restricted_user(session).get());
  no = server::refuse_ttl(node_, wanted_.at(session.id()).ttl);
  grants.set_holder(before);
  return no;
}

void FrontDoor::turn_away(Session& session, const WaitingClients::News& news, Refusal no) {
  if (news.form == WaitingClients::Form::push) return;
  if (news.form == WaitingClients::Form::acquire) {
    waiting_.leave(news.session, news.key);
    wanted_.erase(news.session);
    forget_request(session);
  }
  answer(session, no.why());
}

void FrontDoor::tell_waiter(const WaitingClients::News& news) {
  Session* session = node_.sessions().find(news.session);
  if (session == nullptr) return;
  if (Refusal no = refuse_waiter(*session, news)) return turn_away(*session, news, std::move(no));
  const bool is_free = news.told == WaitingClients::Told::free;
  switch (news.form) {
    case WaitingClients::Form::acquire:
      return try_again(news.session, news.told);
    case WaitingClients::Form::blocking:
      return answer(*session, Reply::integer(is_free ? 1 : 0));
    case WaitingClients::Form::push:
      return server::push_wake(*session, news.key, is_free);
  }
}

Reply FrontDoor::lock_wait(Call& call) {
  server::WaitWords words = server::read_wait_words(call);
  if (words.refusal) return std::move(words.refusal);
  const bool by_push = words.form == server::Waiters::Form::push;
  const std::string key(call.word(1));
  const Session::Id id = call.session.id();
  if (words.timeout == 0ms) {
    if (!by_push) return serve(call, free_body(key));
    waiting_.cancel_push(id, key);
    return Reply::ok();
  }
  if (waiting_.count_of(id) >= server::kWaitsPerSessionMax) {
    return Reply::error_view(kTooManyWait);
  }
  const auto form = by_push ? WaitingClients::Form::push : WaitingClients::Form::blocking;
  if (!waiting_.add(id, form, key, later(call.instant(), words.timeout), words.ticket)) {
    return Reply::error_view(kTooManyWait);
  }
  return by_push ? Reply::ok() : Reply::later();
}

}  // namespace redlock::coordinator
