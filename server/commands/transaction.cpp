// MULTI, EXEC, DISCARD, WATCH, UNWATCH: several commands as one.
//
//   WATCH printer          from here on, whoever changes printer makes EXEC do nothing
//   GET printer
//   MULTI                  what follows is queued: +QUEUED
//   DEL printer
//   EXEC                   the array of their replies, or null
//
// EXEC executes all of them at one instant (rule C4); what they leave behind is told to the ledger
// at the end, as a script's (rules R4, R8).
#include "protocol/resp/errors.h"
#include "server/commands/families.h"
#include "server/node/command.h"
#include "server/node/node.h"

#include <fmt/format.h>

namespace redlock::server {
namespace {

using namespace protocol;  // flags and error texts

Reply multi(Call& call) {
  if (call.session.transaction() != nullptr) {
    return Reply::error_view("ERR MULTI calls can not be nested");
  }
  call.session.begin_transaction();
  return Reply::ok();
}

Reply exec(Call& call) {
  return call.node.execute_transaction(call);
}

Reply discard(Call& call) {
  if (call.session.transaction() == nullptr) {
    return Reply::error_view("ERR DISCARD without MULTI");
  }
  call.session.take_transaction();
  call.node.watches().forget(call.session);
  return Reply::ok();
}

Reply watch(Call& call) {
  if (call.session.transaction() != nullptr) {
    return Reply::error_view("ERR WATCH inside MULTI is not allowed");
  }
  const Instant now = call.node.instant_to_look_at(call.instant());
  for (const std::string_view key : call.words.subspan(1)) {
    if (call.node.watches().add(call.session, key, now)) continue;
    return Reply::error(fmt::format(
        "ERR this connection watches too much already: its watches may take {} bytes together",
        kWatchedBytesMax));
  }
  return Reply::ok();
}

Reply unwatch(Call& call) {
  call.node.watches().forget(call.session);
  return Reply::ok();
}

constexpr std::uint32_t kAlways = kNoScript | kLoading | kStale | kFast | kAllowBusy;

constexpr Command kTransactionCommands[] = {
    {{"multi", 1, kAlways | kNotQueued, 0, 0, 0, "transactions", "1.2.0",
      "Begins a transaction: what follows is queued until EXEC.", ""},
     multi},
    {{"exec", 1, kNoScript | kLoading | kStale | kSkipSlowlog | kNotQueued | kTimed, 0, 0, 0,
      "transactions", "1.2.0", "Executes what was queued, unless a watched key has changed.", ""},
     exec},
    {{"discard", 1, kAlways | kNotQueued | kTimed, 0, 0, 0, "transactions", "2.0.0",
      "Forgets what was queued.", ""},
     discard},
    {{"watch", -2, kAlways | kNotQueued, 1, -1, 1, "transactions", "2.2.0",
      "Watches keys: a change of one makes EXEC do nothing.", "key [key ...]"},
     watch},
    {{"unwatch", 1, kAlways | kTimed, 0, 0, 0, "transactions", "2.2.0", "Watches no key any more.",
      ""},
     unwatch},
};

}  // namespace

Family transaction_commands() {
  return kTransactionCommands;
}

}  // namespace redlock::server
