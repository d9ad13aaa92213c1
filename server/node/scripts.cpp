#include "server/node/scripts.h"

#include "lua/scripts/sha1_text.h"
#include "protocol/resp/errors.h"
#include "server/grants/refusals.h"

#include <algorithm>

namespace redlock::server {

using protocol::Refusal;
using protocol::Reply;
using protocol::Request;

namespace {

lua::Limits limits_of(const Settings& settings, std::uint64_t hash_seed) {
  lua::Limits limits;
  limits.memory_bytes_max = settings.script_memory_limit;
  limits.script_bytes_max = settings.script_size_limit;
  limits.hash_seed = hash_seed;
  return limits;
}

}  // namespace

Scripts::Scripts(Parts parts, std::uint64_t hash_seed, std::string redis_version,
                 Instant started_at)
    : parts_(parts),
      session_(sessions_.open({}, true, started_at)),
      engine_(limits_of(parts.settings, hash_seed), std::move(redis_version)),
      natives_(lua::known_scripts().size()) {}

lua::Engine::Loaded Scripts::load(std::string_view body, lua::Engine::Keep keep) {
  if (keep == lua::Engine::Keep::recent) {
    if (const lua::Script* const script = engine_.find_loaded(body)) return {script, {}};
  }
  parts_.runner.note_lua_begins();
  if (parts_.watch != nullptr) parts_.watch->script_began(engine_);
  lua::Engine::Loaded loaded = engine_.load(body, keep);
  watch_end();
  return loaded;
}

Refusal Scripts::refuse_unknown(const protocol::Session& session, std::string_view body,
                                Instant now) {
  if (lua::known_script_of(body) != nullptr) return {};
  const std::string sha1 = lua::sha1_text(body);
  if (trusted_.contains(sha1)) return {};
  parts_.judge.note(session, Judge::Context::toplevel, sha1, now);
  return Reply::error_view(
      "NOPERM this script is neither one that this node knows nor one that an operator has loaded "
      "(eval known)");
}

bool Scripts::may_take_long(const protocol::CommandSpec& spec, Request request) {
  const bool is_eval = spec.name == "eval";
  const lua::Script* const script =
      is_eval ? engine_.find_loaded(request[1]) : engine_.find(request[1]);
  return script != nullptr ? !script->is_quick() : is_eval;
}

// Whether there is memory for a script's writes is decided when it begins, and only the first write
// is refused for lack of it: half of a script's writes would be worse than all. A first line "#!lua
// flags=…" decides for the whole script.
Reply Scripts::run(const protocol::Session& caller, const lua::Script& script,
                   std::span<const std::string_view> keys,
                   std::span<const std::string_view> arguments, Now now) {
  const bool is_same = caller.is_restricted() == session_.is_restricted();
  if (!is_same || caller.user() != session_.user()) session_.set_user(caller.shared_user());
  caller_ = caller.id();
  lacks_memory_ = !script.allows_oom() && parts_.runner.is_above_maxmemory();
  looks_at_calls_ = lacks_memory_ || session_.is_restricted();
  now_ = now;
  script_ = &script;
  has_written_ = false;
  compares_ = script.known() != nullptr && script.known()->names_holder(arguments);
  keys_ = keys;
  arguments_ = arguments;
  const std::uint64_t refused = parts_.stats.refused_recovering;
  Reply reply = lacks_memory_ && script.has_header()       ? Reply::error_view(kOutOfMemory)
                : has_native_form(script, keys, arguments) ? run_natively(script, keys, arguments)
                                                           : run_in_lua(script, keys, arguments);
  arguments_ = {};
  if (reply.is(Reply::Kind::later)) {
    keep_keys();
    return reply;
  }
  keys_ = {};
  ran_ = &script;
  if (parts_.stats.refused_recovering == refused) [[likely]]
    return reply;
  if (reply.is_error() && is_told_as_held(script)) reply = Reply::null();
  return reply;
}

// The caller's are gone before a suspended script goes on.
void Scripts::keep_keys() {
  const std::size_t count = std::min(keys_.size(), kept_keys_.size());
  for (std::size_t i = 0; i < count; ++i) kept_keys_[i] = kept_text_[i] = keys_[i];
  keys_ = std::span(kept_keys_).first(count);
}

Reply Scripts::run_in_lua(const lua::Script& script, std::span<const std::string_view> keys,
                          std::span<const std::string_view> arguments) {
  parts_.runner.note_lua_begins();
  if (parts_.watch != nullptr) parts_.watch->script_began(engine_);
  const auto progress = engine_.start(script, keys, arguments, *this);
  if (progress == lua::Engine::Progress::suspended) {
    script.note_quick(false);
    return Reply::later();
  }
  watch_end();
  return engine_.take_reply();
}

bool Scripts::has_native_form(const lua::Script& script, std::span<const std::string_view> keys,
                              std::span<const std::string_view> arguments) const {
  const lua::KnownScript* const known = script.known();
  return known != nullptr && parts_.runs_natively && known->form.takes(keys, arguments);
}

// One reply all the way: it is made where the caller wants it, and not moved.
Reply Scripts::run_natively(const lua::Script& script, std::span<const std::string_view> keys,
                            std::span<const std::string_view> arguments) {
  const lua::KnownScript& known = *script.known();
  if (native_ == nullptr || native_->of != &known) native_ = &native_of(known);
  lua::NativeRun run(*this, native_->calls, keys, arguments);
  Reply reply = known.form.run(run);
  ++native_runs_;
  if (run.failed_call() != nullptr) [[unlikely]] {
    const int line = run.failed_call()->line;
    reply = Reply::error(lua::raised_error_text(run.error().text(), script, line));
  } else if (reply.is(Reply::Kind::postponed)) [[unlikely]] {
    --native_runs_;
    reply = run_in_lua(script, keys, arguments);
  }
  return reply;
}

const Scripts::Native& Scripts::native_of(const lua::KnownScript& known) {
  std::unique_ptr<Native>& native =
      natives_[static_cast<std::size_t>(&known - lua::known_scripts().data())];
  if (native != nullptr) return *native;
  native = std::make_unique<Native>();
  native->of = &known;
  native->calls = lua::native_calls_of(known.body);
  for (const lua::NativeCall& call : native->calls) {
    const bool is_named = !call.name.empty();
    native->commands.push_back(is_named ? parts_.commands.find({&call.name, 1}).entry : nullptr);
  }
  const CommandTable::Entry* const first = native->commands.front();
  native->begins_with_get = first != nullptr && first->command->spec.name == "get" &&
                            first->command->run != run_elsewhere;
  return *native;
}

// restart-reply held for a script that acquires by a plain SET, which is refused (rule R10).
bool Scripts::is_told_as_held(const lua::Script& script) const {
  if (parts_.settings.restart_reply != RestartReply::held) return false;
  return script.known() != nullptr && script.known()->is_nil_if_held;
}

std::optional<Reply> Scripts::resume(Now now, Instant began) {
  if (now.monotonic - began >= parts_.settings.script_time_limit) return stop(lua::kTimeLimitError);
  if (engine_.resume() != lua::Engine::Progress::finished) return std::nullopt;
  watch_end();
  return engine_.take_reply();
}

Refusal Scripts::refuse_kill() const {
  if (!has_written_ && engine_.is_suspended()) return {};
  return Reply::error_view(
      "UNKILLABLE Sorry the script already executed write commands against the dataset. You can "
      "either wait the script termination or kill the server in a hard way using the SHUTDOWN "
      "NOSAVE command.");
}

Reply Scripts::stop(std::string_view why) {
  engine_.kill(why);
  watch_end();
  return engine_.take_reply();
}

// redis.call: the same commands by the same way, at the script's own instant.
Reply Scripts::call(Request request) {
  const CommandTable::Found found = parts_.commands.find(request);
  if (found.entry == nullptr) {
    return Reply::error_view("ERR Unknown Redis command called from script");
  }
  return call_command(*found.entry, request);
}

// A form calls what scripts may call, with as many words as it takes: only memory is looked at, and
// what its user may do.
Reply Scripts::call_nth(std::size_t nth, Request request) {
  CommandTable::Entry* const command = native_->commands[nth];
  return command == nullptr ? call(request)
         : looks_at_calls_  ? call_command(*command, request)
                            : run_command(*command, request);
}

// What `get` does in a node that nobody watches command by command, but for a hash, of which it
// answers an error. find() comes first: what it gives back is gone for GET, too.
lua::NativeHost::Comparison Scripts::compare(std::size_t nth, std::string_view key,
                                             std::string_view value) {
  if (nth != 0 || !native_->begins_with_get) return Comparison::unknown;
  if (parts_.observers.looks_at_all() || looks_at_calls_) return Comparison::unknown;
  parts_.coverage.bound_uncovered(now_.monotonic);
  const Lock* const lock = parts_.locks.find(key, now_.monotonic);
  if (is_hash(lock)) return Comparison::unknown;
  ++native_->commands.front()->stats.calls;
  ++(lock != nullptr ? parts_.stats.hits : parts_.stats.misses);
  const bool is_equal = lock != nullptr && lock->value() == value;
  return is_equal ? Comparison::equals : Comparison::differs;
}

Reply Scripts::call_command(CommandTable::Entry& command, Request request) {
  const protocol::CommandSpec& spec = command.command->spec;
  if (!spec.takes(request.size())) {
    return Reply::error_view("ERR Wrong number of args calling Redis command from script");
  }
  if (spec.has(protocol::kNoScript)) {
    return Reply::error_view("ERR This Redis command is not allowed from script");
  }
  if (session_.is_restricted()) {
    Refusal no =
        parts_.judge.refuse_in_script(session_, caller_, command.number, request, now_.monotonic);
    if (no) return no;
  }
  const bool writes = spec.has(protocol::kWrite);
  if (script_->is_read_only() && (writes || spec.has(protocol::kMayReplicate))) {
    return Reply::error_view("ERR Write commands are not allowed from read-only scripts.");
  }
  if (lacks_memory_ && !has_written_ && spec.has(protocol::kDenyOom)) {
    return Reply::error_view(kOutOfMemory);
  }
  return run_command(command, request);
}

Reply Scripts::run_command(CommandTable::Entry& command, Request request) {
  if (command.command->spec.has(protocol::kWrite)) has_written_ = true;
  parts_.coverage.bound_uncovered(now_.monotonic);
  Reply reply = parts_.runner.run(session_, request, now_, command, CommandRunner::Origin::script);
  if (reply.is(Reply::Kind::too_large)) [[unlikely]]
    reply = Reply::error_view("ERR the reply is too large");
  return reply;
}

}  // namespace redlock::server
