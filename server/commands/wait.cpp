// LOCK.WAIT: until a key is free, without asking again and again (rule Q7).
//
//   LOCK.WAIT key timeout-ms        blocks its connection; 1 as soon as the key is free and it is
//                                   the caller's turn, 0 at the timeout. A timeout of 0 only looks.
//   LOCK.WAIT key timeout-ms PUSH   OK at once, and one push ["lock.free", key, 1 or 0] later: so
//                                   one connection waits for many keys and stays usable. Armed
//                                   again, the same key gets the new timeout; with 0 it is
//                                   cancelled.
//   … AT ticket                     since when the caller waits (base/wait_ticket.h): who waits
//                                   for longest is told first. Without it the time of its coming
//                                   counts.
#include "base/wait_ticket.h"
#include "protocol/resp/errors.h"
#include "server/commands/families.h"
#include "server/commands/replies.h"
#include "server/node/command.h"
#include "server/node/node.h"
#include "server/notify/waiters.h"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

namespace redlock::server {
namespace {

using namespace protocol;  // flags and error texts

using Arming = Waiters::Arming;

Refusal read_ticket(std::string_view text, std::optional<WaitTicket>& ticket) {
  ticket = parse_wait_ticket(text);
  if (ticket) return std::nullopt;
  return Reply::error(fmt::format(
      "ERR a ticket is two numbers of at most {}, such as 1764178532000-17", kWaitTicketPartMax));
}

// By this node's clock, behind all who came in the same millisecond.
WaitTicket ticket_of_coming(WallTime now) {
  const std::int64_t ms = std::max<std::int64_t>(floor_ms(now.time_since_epoch()), 0);
  return {static_cast<std::uint64_t>(ms), kWaitTicketPartMax};
}

Reply wait_for_too_many() {
  return Reply::error(
      fmt::format("ERR this connection waits for {} keys already", kWaitsPerSessionMax));
}

Reply told_by_reply(Arming arming) {
  if (arming == Arming::refused) return wait_for_too_many();
  return arming == Arming::called ? Reply::integer(1) : Reply::later();
}

Reply told_by_push(Call& call, Arming arming) {
  if (arming == Arming::refused) return wait_for_too_many();
  if (arming == Arming::waits) return Reply::ok();
  call.session.write(Reply::ok());  // here, so that it stands before its push
  push_wake(call.session, std::string(call.word(1)), true);
  return Reply::none();
}

Reply wait(Call& call) {
  WaitWords words = read_wait_words(call);
  if (words.refusal) return std::move(words.refusal);
  if (Refusal no = call.node.grants().refuse(call.instant())) return no;
  const bool is_free = call.node.locks().find(call.word(1), call.instant()) == nullptr;
  const bool by_push = words.form == Waiters::Form::push;
  if (words.timeout == 0ms) {
    if (!by_push) return Reply::integer(is_free ? 1 : 0);
    call.node.waiters().cancel(call.session.id(), words.form, call.word(1));
    return Reply::ok();
  }
  Waiters::Wait wait{call.session.id(),
                     words.form,
                     std::string(call.word(1)),
                     later(call.instant(), words.timeout),
                     words.ticket.value_or(ticket_of_coming(call.now.wall)),
                     &call.session};
  const Arming arming = call.node.waiters().arm(std::move(wait), is_free, call.instant());
  return by_push ? told_by_push(call, arming) : told_by_reply(arming);
}

constexpr Command kWaitCommands[] = {
    {{"lock.wait", -3, kReadOnly | kDenyOom | kNoScript | kNoMulti | kBlocking | kFast, 1, 1, 1,
      "lock", "1.0.0", "Waits until a key is free: blocks, or has a message pushed.",
      "key timeout-ms [PUSH] [AT ticket]"},
     wait},
};

}  // namespace

WaitWords read_wait_words(const Call& call) {
  WaitWords words;
  std::size_t at = 3;
  if (at < call.words.size() && equals_ignoring_case(call.word(at), "PUSH")) {
    words.form = Waiters::Form::push;
    ++at;
  }
  const bool has_ticket = at + 2 == call.words.size() && equals_ignoring_case(call.word(at), "AT");
  if (at != call.words.size() && !has_ticket) {
    words.refusal = Reply::error_view(kSyntaxError);
  } else if (words.form == Waiters::Form::push && call.session.version() != Version::resp3) {
    words.refusal = Reply::error_view(kPushNeedsResp3);
  } else if (has_ticket) {
    words.refusal = read_ticket(call.word(at + 1), words.ticket);
  }
  if (words.refusal) return words;
  WaitReading reading = read_wait(call.word(2));
  words.refusal = std::move(reading.refusal);
  words.timeout = reading.timeout;
  return words;
}

Family wait_commands() {
  return kWaitCommands;
}

}  // namespace redlock::server
