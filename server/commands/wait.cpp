// LOCK.WAIT: until a key is free, without asking again and again (rule Q7).
//
//   LOCK.WAIT key timeout-ms        blocks its connection; 1 as soon as the key is free, 0 at the
//                                   timeout. A timeout of 0 only looks.
//   LOCK.WAIT key timeout-ms PUSH   OK at once, and one push ["lock.free", key, 1 or 0] later: so
//                                   one connection waits for many keys and stays usable. Armed
//                                   again, the same key gets the new timeout; with 0 it is
//                                   cancelled.
#include "protocol/resp/errors.h"
#include "server/commands/families.h"
#include "server/commands/replies.h"
#include "server/node/command.h"
#include "server/node/node.h"
#include "server/notify/waiters.h"

#include <fmt/format.h>

namespace redlock::server {
namespace {

using namespace protocol;  // flags and error texts

Refusal arm(Call& call, Waiters::Form form, Duration timeout) {
  Waiters::Wait wait{call.session.id(), form, std::string(call.word(1)),
                     later(call.instant(), timeout), &call.session};
  if (call.node.waiters().arm(std::move(wait))) return std::nullopt;
  return Reply::error(
      fmt::format("ERR this connection waits for {} keys already", kWaitsPerSessionMax));
}

Reply wait_blocking(Call& call, Duration timeout, bool is_free) {
  if (is_free) return Reply::integer(1);
  if (timeout == 0ms) return Reply::integer(0);
  if (Refusal no = arm(call, Waiters::Form::blocking, timeout)) return no;
  return Reply::later();
}

Reply wait_by_push(Call& call, Duration timeout, bool is_free) {
  const bool is_cancel = timeout == 0ms;
  if (!is_cancel && !is_free) {
    if (Refusal no = arm(call, Waiters::Form::push, timeout)) return no;
    return Reply::ok();
  }
  call.node.waiters().cancel(call.session.id(), Waiters::Form::push, call.word(1));
  if (is_cancel) return Reply::ok();
  call.session.write(Reply::ok());  // here, so that it stands before its push
  push_wake(call.session, std::string(call.word(1)), true);
  return Reply::none();
}

Reply wait(Call& call) {
  const bool by_push = call.words.size() > 3;
  if (call.words.size() > 4 || (by_push && !equals_ignoring_case(call.word(3), "PUSH"))) {
    return Reply::error_view(kSyntaxError);
  }
  if (by_push && call.session.version() != Version::resp3) {
    return Reply::error_view(kPushNeedsResp3);
  }
  WaitReading reading = read_wait(call.word(2));
  if (reading.refusal) return std::move(reading.refusal);
  if (Refusal no = call.node.grants().refuse(call.instant())) return no;
  const bool is_free = call.node.locks().find(call.word(1), call.instant()) == nullptr;
  return by_push ? wait_by_push(call, reading.timeout, is_free)
                 : wait_blocking(call, reading.timeout, is_free);
}

constexpr Command kWaitCommands[] = {
    {{"lock.wait", -3, kReadOnly | kDenyOom | kNoScript | kNoMulti | kBlocking | kFast, 1, 1, 1,
      "lock", "1.0.0", "Waits until a key is free: blocks, or has a message pushed.",
      "key timeout-ms [PUSH]"},
     wait},
};

}  // namespace

Family wait_commands() {
  return kWaitCommands;
}

}  // namespace redlock::server
