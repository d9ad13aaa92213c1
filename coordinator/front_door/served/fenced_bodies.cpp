#include "coordinator/front_door/served/fenced_bodies.h"

#include "base/text/words.h"
#include "lua/scripts/known_scripts.h"
#include "protocol/resp/errors.h"
#include "server/commands/replies.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace redlock::coordinator {

using protocol::Reply;
using protocol::Request;

namespace {

// Both take the lock KEYS[1], and count in KEYS[2]. The second ends with { -1, the count }.
constexpr std::string_view kTake = "46b5551ba403d6152a7a6eca122e08728d6c8c66";
constexpr std::string_view kTakeAndTell = "49babb5a1e6a0c5f188c2ae62b93b51cdfd63e45";
constexpr std::size_t kLockWord = 3;
constexpr std::size_t kCounterWord = 4;

bool is_take(std::string_view sha1) {
  return equals_ignoring_case(sha1, kTake) || equals_ignoring_case(sha1, kTakeAndTell);
}

bool is_take_of_fenced_lock(const server::Call& call) {
  const bool has_keys = call.words.size() > kCounterWord && call.word(2) == "2";
  if (!has_keys) return false;
  if (call.command.spec.name == "evalsha") return is_take(call.word(1));
  if (call.command.spec.name != "eval") return false;
  const lua::KnownScript* script = lua::known_script_of(call.word(1));
  return script != nullptr && is_take(script->sha1);
}

// Redisson puts a name into braces that has none. nullopt: the key is no counter.
std::optional<std::string> lock_of_counter(std::string_view key) {
  if (!key.starts_with(lua::kFencedLockCounter)) return std::nullopt;
  const std::string_view name = key.substr(lua::kFencedLockCounter.size());
  const bool is_in_braces =
      name.size() > 2 && name.front() == '{' && name.find('}') == name.size() - 1;
  return std::string(is_in_braces ? name.substr(1, name.size() - 2) : name);
}

class TakeBody final : public CommandBody {
 public:
  TakeBody(ScratchNode& scratch, protocol::Transaction request, std::string lock,
           std::string counter, std::shared_ptr<const protocol::User> user)
      : scratch_(scratch),
        request_(std::move(request)),
        user_(std::move(user)),
        lock_(std::move(lock)),
        counter_(std::move(counter)) {}

  std::vector<std::string> expected_keys() const override { return {lock_}; }
  bool fences() const override { return true; }
  bool wants_token() const override { return true; }

  // What it counts counts nothing.
  RunResult run(std::span<const KnownRecord> records, Now now) override {
    RunResult run = scratch_.run(request_, records, now, user_);
    std::erase_if(run.touched, [this](const TouchedKey& key) { return key.key == counter_; });
    return run;
  }
  Reply reply(RunResult& run, std::span<const SettledKey> keys, Now) override {
    const auto& items = run.replies[0].items();
    const bool tells = items.size() == 2 && items[0].integer() == -1;
    if (!tells) return std::move(run.replies[0]);
    for (const SettledKey& key : keys) {
      if (key.before.key != lock_ || key.holders_token() == 0) continue;
      return server::list(Reply::integer(-1), server::number_reply(key.token));
    }
    return Reply::error_view("ERR the lock is held, and its nodes tell no one fencing token of it");
  }

 private:
  ScratchNode& scratch_;
  protocol::Transaction request_;
  std::shared_ptr<const protocol::User> user_;
  std::string lock_;
  std::string counter_;
};

// GET of the counter.
class TokenBody final : public CommandBody {
 public:
  explicit TokenBody(std::string lock) : lock_(std::move(lock)) {}

  std::vector<std::string> expected_keys() const override { return {lock_}; }
  bool wants_token() const override { return true; }
  RunResult run(std::span<const KnownRecord> records, Now) override {
    RunResult run;
    run.touched.push_back(looked_at(records, lock_));
    return run;
  }
  Reply reply(RunResult&, std::span<const SettledKey> keys, Now) override {
    const bool is_told = !keys.empty() && keys[0].before.value && keys[0].holders_token() > 0;
    return is_told ? Reply::bulk(fmt::to_string(keys[0].token)) : Reply::null();
  }

 private:
  std::string lock_;
};

}  // namespace

bool makes_counter(const RunResult& run) {
  return std::any_of(run.touched.begin(), run.touched.end(), [](const TouchedKey& touched) {
    return touched.after && touched.key.starts_with(lua::kFencedLockCounter);
  });
}

std::unique_ptr<CommandBody> fenced_body(ScratchNode& scratch, server::Call& call) {
  if (call.command.spec.name == "get") {
    auto lock = lock_of_counter(call.word(1));
    return lock ? std::make_unique<TokenBody>(std::move(*lock)) : nullptr;
  }
  if (!is_take_of_fenced_lock(call)) return nullptr;
  protocol::Transaction request;
  if (!request.add(call.words, call.command.spec.flags)) return nullptr;
  return std::make_unique<TakeBody>(scratch, std::move(request), std::string(call.word(kLockWord)),
                                    std::string(call.word(kCounterWord)),
                                    restricted_user(call.session));
}

}  // namespace redlock::coordinator
