// Scripts: EVAL's scripts, their commands, their time, their end.
//
// A script runs until it ends, or has run for busy-reply-threshold: then it is suspended, and the
// node resumes it a slice a turn, while others are told BUSY.
//
//   Reply reply = scripts.run(script, keys, arguments, now);   // Kind::later: it is suspended
//   if (auto reply = scripts.resume(now, began)) …             // a slice; its reply at its end
//
// A known script with words of the usual form runs without Lua (lua/scripts/native_run.h). It makes
// the same calls by the same way, so that nobody can tell but by the time that it takes.
//
// Thread safety: none, but for what ScriptWatch says of the engine.
#pragma once

#include "base/time.h"
#include "lua/engine/engine.h"
#include "lua/scripts/known_scripts.h"
#include "lua/scripts/native_run.h"
#include "protocol/resp/refusal.h"
#include "protocol/resp/reply.h"
#include "protocol/session/session.h"
#include "protocol/session/sessions.h"
#include "server/grants/coverage.h"
#include "server/locks/lock_table.h"
#include "server/node/command_runner.h"
#include "server/node/command_table.h"
#include "server/node/script_watch.h"
#include "server/observe/client_log.h"
#include "server/observe/observers.h"
#include "server/observe/stats.h"
#include "server/settings/settings.h"
#include "server/users/judge.h"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redlock::server {

class Scripts final : private lua::ScriptHost, private lua::NativeHost {
 public:
  // What is quick is executed as it comes (TurnOrder).
  static constexpr Duration kQuickScript = 250us;

  // All outlive it. watch: nullptr: scripts may run for ever.
  struct Parts {
    CommandRunner& runner;
    CommandTable& commands;
    Judge& judge;
    Coverage& coverage;
    const Settings& settings;
    Stats& stats;
    ClientLog& client_log;
    ScriptWatch* watch;
    const Observers& observers;
    LockLookup& locks;
    bool runs_natively;  // false: Lua runs the known scripts too, as tests want for comparison
  };
  Scripts(Parts parts, std::uint64_t hash_seed, std::string redis_version, Instant started_at);
  // A node that is stopped may leave a script suspended: who watches it looks at its engine at any
  // instant, and no longer from here on.
  ~Scripts() override { watch_end(); }

  lua::Engine& engine() { return engine_; }
  const lua::Engine& engine() const { return engine_; }

  // Whether the session may run those scripts alone that are known, or that an operator loaded.
  bool is_closed_to(const protocol::Session& session) const {
    const bool is_closed = parts_.settings.eval_scripts == Settings::EvalScripts::known;
    return is_closed ||
           (session.is_restricted() && session.user()->limits().runs_known_scripts_only);
  }
  // Why the script is none of these. REQUIRES: it is closed to the session.
  protocol::Refusal refuse_unknown(const protocol::Session& session, std::string_view body,
                                   Instant now);
  // SCRIPT LOAD: an operator vouches for the script; scripts of others are forgotten with all.
  void trust(const lua::Script& script) { trusted_.emplace(script.sha1()); }
  void flush() {
    engine_.flush();
    trusted_.clear();
  }

  // The script of this body. The time to compile it is watched as that of a script.
  lua::Engine::Loaded load(std::string_view body, lua::Engine::Keep keep);
  // Whether a script of this body or digest may take any time, and so may its body to be compiled:
  // all but those that were quick so far.
  bool may_take_long(const protocol::CommandSpec& spec, protocol::Request request);

  // The script's reply, or Kind::later when it was suspended. now: stays the same in it (rule C4).
  // What it calls is judged by the rights of its caller's user, whom its commands see as theirs.
  protocol::Reply run(const protocol::Session& caller, const lua::Script& script,
                      std::span<const std::string_view> keys,
                      std::span<const std::string_view> arguments, Now now);
  bool is_suspended() const { return engine_.is_suspended(); }
  // Of the script under way: whether it changes a held lock under this key only where its arguments
  // name the value, and whether an operator vouches for it. Its arguments, until it is suspended.
  bool compares(std::string_view key) const {
    return compares_ && script_->known()->compares_key(key, keys_);
  }
  bool is_trusted() const { return trusted_.contains(script_->sha1()); }
  std::span<const std::string_view> arguments() const { return arguments_; }
  // A slice of the suspended script, which began then. Its reply, if it has ended.
  std::optional<protocol::Reply> resume(Now now, Instant began);
  // SCRIPT KILL: why the suspended script cannot be stopped. Half of what it does would stay, once
  // it has written.
  protocol::Refusal refuse_kill() const;
  // The suspended script ends here. Returns its reply, an error that says why.
  protocol::Reply stop(std::string_view why);

  // How many scripts ran without Lua.
  std::uint64_t native_runs() const { return native_runs_; }

  // What a command that ran just now took: whether the script in it counts as quick.
  void note_time(Duration took) {
    if (ran_ != nullptr) std::exchange(ran_, nullptr)->note_quick(took < kQuickScript);
  }
  // Before a command that may run one.
  void forget_ran() { ran_ = nullptr; }

 private:
  // A known script's calls, and the commands that they name; nullptr where its ARGV names it.
  struct Native {
    const lua::KnownScript* of;
    std::vector<lua::NativeCall> calls;
    std::vector<CommandTable::Entry*> commands;
    bool begins_with_get;
  };

  protocol::Reply call(protocol::Request request) override;  // redis.call
  protocol::Reply call_nth(std::size_t nth, protocol::Request request) override;
  Comparison compare(std::size_t nth, std::string_view key, std::string_view value) override;
  protocol::Reply call_command(CommandTable::Entry& command, protocol::Request request);
  // REQUIRES: nothing refuses it.
  protocol::Reply run_command(CommandTable::Entry& command, protocol::Request request);
  bool is_there(std::string_view key) override {
    return parts_.locks.find(key, now_.monotonic) != nullptr;
  }
  void log(LogLevel level, std::string_view text) override {  // redis.log
    parts_.client_log.log_of_script(level, text, now_.monotonic);
  }
  void watch_end() {
    if (parts_.watch != nullptr) parts_.watch->script_ended();
  }
  bool is_told_as_held(const lua::Script& script) const;
  // Kind::later: it is suspended.
  protocol::Reply run_in_lua(const lua::Script& script, std::span<const std::string_view> keys,
                             std::span<const std::string_view> arguments);
  const Native& native_of(const lua::KnownScript& known);
  void keep_keys();
  bool has_native_form(const lua::Script& script, std::span<const std::string_view> keys,
                       std::span<const std::string_view> arguments) const;
  // By Lua, if the form finds words that are not for it.
  protocol::Reply run_natively(const lua::Script& script, std::span<const std::string_view> keys,
                               std::span<const std::string_view> arguments);

  Parts parts_;
  protocol::Sessions sessions_;  // holds session_, which no client list shows
  protocol::Session& session_;   // in whose name scripts call
  lua::Engine engine_;
  std::vector<std::unique_ptr<Native>> natives_;  // as known_scripts(); made when first needed
  const Native* native_ = nullptr;                // of the script that runs without Lua
  std::set<std::string, std::less<>> trusted_;    // by SHA-1
  std::uint64_t native_runs_ = 0;
  Now now_{};
  const lua::Script* script_ = nullptr;  // the last that began
  const lua::Script* ran_ = nullptr;     // and ended, in the command under way
  protocol::Session::Id caller_ = 0;     // its
  bool lacks_memory_ = false;            // from its beginning
  bool looks_at_calls_ = false;          // also at those of a native form: it may be refused one
  bool has_written_ = false;
  bool compares_ = false;
  std::span<const std::string_view> keys_;  // the caller's; once it is suspended:
  std::array<std::string_view, lua::KnownScript::kKeysLookedAt> kept_keys_;
  std::array<std::string, lua::KnownScript::kKeysLookedAt> kept_text_;
  std::span<const std::string_view> arguments_;
};

}  // namespace redlock::server
