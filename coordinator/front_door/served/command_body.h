// CommandBody: what one command of a client does to records, and what its client is told.
//
// It may run again and again, on other records each time, and nothing of a run stays (rule D4).
// Only when all that a run found is confirmed, and what it changed is done, is its reply told.
#pragma once

#include "base/time.h"
#include "base/token.h"
#include "coordinator/front_door/records/key_state.h"
#include "coordinator/front_door/records/record.h"
#include "coordinator/front_door/records/scratch_node.h"
#include "protocol/resp/reply.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redlock::coordinator {

// What a key's record is known to be, when its command is over.
struct SettledKey {
  const KeyState& before;  // the command
  Token token = 0;         // what a quorum stores with it, after the command; 0: not known

  const KeyLabel& label() const { return before.label; }
  // Token and label are of whoever got the lock. Whoever has put another value in place of that
  // one's got neither.
  bool has_changed_hands() const {
    return before.value && read_record(*before.value).has_changed_hands;
  }
  Token holders_token() const { return has_changed_hands() ? 0 : token; }
};

class CommandBody {
 public:
  virtual ~CommandBody() = default;

  virtual RunResult run(std::span<const KnownRecord> records, Now now) = 0;
  // Of a run: called once, and only of the last. keys: those that it touched.
  virtual protocol::Reply reply(RunResult& run, std::span<const SettledKey> keys, Now now) = 0;

  // Keys that its run will most likely touch: what is known of them need not be found by a run.
  virtual std::vector<std::string> expected_keys() const { return {}; }
  // It takes one lock if that is free, and says whether it did, whoever else holds it: so it need
  // not be known who does.
  virtual bool is_plain_try() const { return false; }
  // It takes a lock and does nothing else, whatever its run finds: then it ends with its client
  // (rule D5). Of what nobody knows before it has run: false.
  virtual bool only_takes() const { return is_plain_try(); }
  // What its client wrote runs, such as a script: on other records it may take longer.
  virtual bool is_script() const { return false; }
  // Its next run is not known to be quick.
  virtual bool may_take_long() const { return is_script(); }
  // What it creates has a fencing token (rule F4).
  virtual bool fences() const { return false; }
  // Of what it creates: who its holder says it is; empty: not told.
  virtual std::string_view label() const { return {}; }
  // In whose name it takes locks, where he may have so many at a time only (max-locks); nullptr:
  // anybody else.
  const protocol::User* taker() const { return taker_.get(); }
  void set_taker(std::shared_ptr<const protocol::User> taker) { taker_ = std::move(taker); }

  // Readings for it tell the token.
  virtual bool wants_token() const { return false; }

 private:
  std::shared_ptr<const protocol::User> taker_;
};

}  // namespace redlock::coordinator
