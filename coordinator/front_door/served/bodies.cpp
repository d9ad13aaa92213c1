#include "coordinator/front_door/served/bodies.h"

#include "base/text/number.h"
#include "base/text/words.h"
#include "coordinator/front_door/records/record.h"
#include "coordinator/front_door/served/door_errors.h"
#include "coordinator/front_door/served/fenced_bodies.h"
#include "protocol/resp/errors.h"

#include <algorithm>
#include <array>
#include <utility>

namespace redlock::coordinator {

using protocol::Reply;
using protocol::Request;
using protocol::Transaction;
using server::LockKind;

namespace {

// SET key value NX, with a TTL or without, or SETNX: no answer but whether it did. What stands
// behind another option may be a value to compare with, which may read as NX does.
bool is_plain_try_of(Request words) {
  if (equals_ignoring_case(words[0], "SETNX")) return true;
  if (!equals_ignoring_case(words[0], "SET")) return false;
  constexpr std::array<std::string_view, 4> kOfTtls = {"PX", "EX", "PXAT", "EXAT"};
  bool only_if_absent = false;
  for (std::size_t i = 3; i < words.size(); ++i) {
    const auto is_it = [&](std::string_view option) {
      return equals_ignoring_case(words[i], option);
    };
    if (is_it("NX")) {
      only_if_absent = true;
    } else if (std::any_of(kOfTtls.begin(), kOfTtls.end(), is_it)) {
      ++i;  // the time
    } else {
      return false;
    }
  }
  return only_if_absent;
}

// Whether it may have a condition on the deadline before: GT or LT of EXPIRE and its family.
bool may_compare_deadlines(Request words) {
  const auto has_letters = [](std::string_view word) {
    for (std::size_t i = 0; i + 1 < word.size(); ++i) {
      const std::string_view two = word.substr(i, 2);
      if (equals_ignoring_case(two, "GT") || equals_ignoring_case(two, "LT")) return true;
    }
    return false;
  };
  return std::any_of(words.begin(), words.end(), has_letters);
}

// A script's declared keys, or a command's first.
std::vector<std::string> expected_keys_of(const protocol::CommandSpec& spec, Request words) {
  constexpr std::size_t kFirstOfScripts = 3;
  if (!spec.has(protocol::kMovableKeys)) {
    const auto first = static_cast<std::size_t>(spec.first_key);
    if (first == 0 || first >= words.size()) return {};
    return {std::string(words[first])};
  }
  const auto count = words.size() > 2 ? parse_int64(words[2]) : std::nullopt;
  const auto given =
      static_cast<std::int64_t>(words.size() - std::min(words.size(), kFirstOfScripts));
  if (!count || *count < 1 || *count > given || *count > 8) return {};
  std::vector<std::string> keys;
  for (const std::string_view key :
       words.subspan(kFirstOfScripts, static_cast<std::size_t>(*count))) {
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.emplace_back(key);
  }
  return keys;
}

// Whose rights a run has; nullptr: all of them.
using RunUser = std::shared_ptr<const protocol::User>;

// What a run published, once it counts.
void tell(const RunResult& run, MessageRelay& relay) {
  for (const DoorMessage& message : run.messages) relay.tell(message);
}

class ScratchBody final : public CommandBody {
 public:
  ScratchBody(ScratchNode& scratch, Transaction request, const protocol::CommandSpec& spec,
              RunUser user, MessageRelay& relay)
      : scratch_(scratch),
        request_(std::move(request)),
        spec_(spec),
        user_(std::move(user)),
        relay_(relay) {
    is_plain_try_ = is_plain_try_of(request_.request(0));
  }
  std::vector<std::string> expected_keys() const override {
    return expected_keys_of(spec_, request_.request(0));
  }
  RunResult run(std::span<const KnownRecord> records, Now now) override {
    RunResult run = scratch_.run(request_, records, now, user_);
    if (makes_counter(run)) {
      run = {};
      run.replies.push_back(Reply::error_view(kCounterIsToken));
    }
    run.moves_deadlines = run.moves_deadlines && may_compare_deadlines(request_.request(0));
    return run;
  }
  Reply reply(RunResult& run, std::span<const SettledKey>, Now) override {
    tell(run, relay_);
    return std::move(run.replies[0]);
  }
  bool is_plain_try() const override { return is_plain_try_; }
  bool is_script() const override { return spec_.name == "eval" || spec_.name == "evalsha"; }
  bool may_take_long() const override {
    return is_script() && scratch_.node().scripts().may_take_long(spec_, request_.request(0));
  }

 private:
  ScratchNode& scratch_;
  mutable Transaction request_;  // reading it lays out its words
  const protocol::CommandSpec& spec_;
  RunUser user_;
  MessageRelay& relay_;
  bool is_plain_try_ = false;
};

class ExecBody final : public CommandBody {
 public:
  ExecBody(ScratchNode& scratch, std::unique_ptr<Transaction> queue,
           std::vector<WatchedRecord> watched, RunQueued run_queued, RunUser user,
           MessageRelay& relay)
      : scratch_(scratch),
        queue_(std::move(queue)),
        user_(std::move(user)),
        watched_(std::move(watched)),
        run_queued_(std::move(run_queued)),
        relay_(relay) {}

  RunResult run(std::span<const KnownRecord> records, Now now) override {
    is_broken_ = std::any_of(watched_.begin(), watched_.end(), [&](const WatchedRecord& watched) {
      return has_changed(watched, records);
    });
    RunResult run = is_broken_ ? RunResult{} : scratch_.run(*queue_, records, now, user_);
    makes_counter_ = makes_counter(run);
    if (makes_counter_) run = {};
    for (const WatchedRecord& watched : watched_) {
      const bool is_touched =
          std::any_of(run.touched.begin(), run.touched.end(),
                      [&](const TouchedKey& touched) { return touched.key == watched.key; });
      if (!is_touched) run.touched.push_back(looked_at(records, watched.key));
    }
    return run;
  }

  Reply reply(RunResult& run, std::span<const SettledKey>, Now) override {
    if (is_broken_) return Reply::null_array();
    if (makes_counter_) return Reply::error_view(kCounterIsToken);
    Reply replies = this->replies(run);
    tell(run, relay_);
    return replies;
  }
  bool is_script() const override { return true; }

 private:
  // What is the session's own runs now: who begins to listen among the commands hears the others.
  // Nobody else is served meanwhile, so it may take as long as all the others together.
  Reply replies(RunResult& run) {
    const Instant end = scratch_.now() + kScriptTimeMax;
    Reply replies = Reply::array();
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < run.replies.size(); ++i) {
      Reply& reply = run.replies[i];
      if (reply.is(Reply::Kind::none)) {
        reply =
            scratch_.now() > end ? Reply::error_view(kLeftOut) : run_queued_(queue_->request(i));
      }
      bytes += reply.memory_bytes();
      if (bytes > protocol::kTransactionBytesMax) return Reply::too_large();
      replies.add(reply.owned());
    }
    return replies;
  }

  static bool has_changed(const WatchedRecord& watched, std::span<const KnownRecord> records) {
    const KnownRecord* known = find_record(records, watched.key);
    const std::string* value = known == nullptr ? nullptr : known->value;
    if (watched.has_changed) return true;
    if (value == nullptr) return watched.identity.has_value();
    return watched.identity != unique_part_of(*value);
  }

  ScratchNode& scratch_;
  std::unique_ptr<Transaction> queue_;
  RunUser user_;
  std::vector<WatchedRecord> watched_;
  RunQueued run_queued_;
  MessageRelay& relay_;
  bool is_broken_ = false;
  bool makes_counter_ = false;
};

class WatchBody final : public CommandBody {
 public:
  WatchBody(std::vector<std::string> keys, std::function<void(std::vector<WatchedRecord>)> watch)
      : keys_(std::move(keys)), watch_(std::move(watch)) {}

  RunResult run(std::span<const KnownRecord> records, Now) override {
    RunResult run;
    for (const std::string& key : keys_) run.touched.push_back(looked_at(records, key));
    return run;
  }
  Reply reply(RunResult&, std::span<const SettledKey> keys, Now) override {
    std::vector<WatchedRecord> watched;
    for (const SettledKey& key : keys) {
      const std::optional<std::string>& value = key.before.value;
      watched.push_back({key.before.key, std::nullopt});
      if (value) watched.back().identity.emplace(unique_part_of(*value));
    }
    watch_(std::move(watched));
    return Reply::ok();
  }

 private:
  std::vector<std::string> keys_;
  std::function<void(std::vector<WatchedRecord>)> watch_;
};

}  // namespace

std::unique_ptr<CommandBody> scratch_body(ScratchNode& scratch, server::Call& call,
                                          MessageRelay& relay) {
  Transaction request;
  if (!request.add(call.words, call.command.spec.flags)) return nullptr;
  return std::make_unique<ScratchBody>(scratch, std::move(request), call.command.spec,
                                       restricted_user(call.session), relay);
}

std::unique_ptr<CommandBody> exec_body(ScratchNode& scratch, std::unique_ptr<Transaction> queue,
                                       std::vector<WatchedRecord> watched, RunQueued run_queued,
                                       const protocol::Session& session, MessageRelay& relay) {
  return std::make_unique<ExecBody>(scratch, std::move(queue), std::move(watched),
                                    std::move(run_queued), restricted_user(session), relay);
}

std::unique_ptr<CommandBody> watch_body(std::vector<std::string> keys,
                                        std::function<void(std::vector<WatchedRecord>)> watch) {
  return std::make_unique<WatchBody>(std::move(keys), std::move(watch));
}

}  // namespace redlock::coordinator
