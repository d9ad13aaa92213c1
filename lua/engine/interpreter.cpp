#include "lua/engine/interpreter.h"

#include "base/invariant.h"
#include "lua/engine/redis_library.h"
#include "lua/engine/reply_conversion.h"
#include "lua/engine/script_host.h"
#include "lua/library/sandbox.h"
#include "lua/library/source_reader.h"
#include "lua/scripts/script_words.h"

#include <climits>
#include <utility>

#include <fmt/format.h>

namespace redlock::lua {
namespace {

// Registry keys are the addresses of such objects.
constexpr char kCoroutineKey = 0;

// The collector starts a cycle when memory has grown to so many per cent of what was alive after
// the last one. A bare engine takes some 30 KB; waiting longer spares the collector work, but what
// scripts leave behind then no longer stays near the core, and Lua's table of strings grows and
// shrinks in each cycle. 130 to 150 per cent is best, with 1,000 compiled scripts too; 110 and 400
// cost a release script a twentieth more.
constexpr int kCollectorPausePercent = 150;
constexpr int kCollectorStepPercent = 200;

// A script that left this much behind, and as much again as was alive before, is cleaned up after
// at once.
constexpr std::size_t kLitterBytesMax = 1024 * 1024;

// As Redis names it: '@' says that the rest is a name, and not the text of the chunk.
constexpr const char* kChunkName = "@user_script";

// Of a compiled script: its table of globals, _ENV.
constexpr int kGlobalsUpvalue = 1;

constexpr std::size_t kWordsKept = 1024;

constexpr const char* kCompilesTooLong = "it takes too long to compile, send shorter scripts";

// What load() was given as a name can be of any length: such chunks are told in Lua's short form.
std::string position_text(const lua_Debug& frame) {
  const bool is_script = std::string_view(frame.source) == kChunkName;
  return fmt::format("{}:{}", is_script ? frame.source : frame.short_src, frame.currentline);
}

}  // namespace

std::string_view abort_error(const ScriptContext& context) {
  return context.is_stuck != 0 ? kStuckError : kTimeLimitError;
}

void raise_abort(lua_State* lua) {
  const std::string_view text = abort_error(script_context(lua));
  lua_pushlstring(lua, text.data(), text.size());
  lua_error(lua);
}

Interpreter::Interpreter(const Limits& limits, std::string redis_version) : limits_(limits) {
  context_.redis_version = std::move(redis_version);
  context_.string_bytes_max = limits.memory_bytes_max;
  context_.script_bytes_max = limits.script_bytes_max;
  context_.slice_instructions = limits.slice_instructions;
  context_.args = &args_;
}

Interpreter::~Interpreter() {
  if (lua_ != nullptr) lua_close(lua_);
}

void Interpreter::open() {
  lua_ = lua_newstate(&MemoryAccount::allocate, &memory_);
  INVARIANT(lua_ != nullptr, "there is memory for a Lua state");
  *static_cast<ScriptContext**>(lua_getextraspace(lua_)) = &context_;
  open_sandbox(lua_, &open_redis_library);
  make_coroutine();
  lua_gc(lua_, LUA_GCINC, kCollectorPausePercent, kCollectorStepPercent, 0);
  collect();
  bare_bytes_ = memory_.used();
}

void Interpreter::make_coroutine() {
  coroutine_ = lua_newthread(lua_);  // with its own copy of the pointer to the context
  lua_rawsetp(lua_, LUA_REGISTRYINDEX, &kCoroutineKey);
}

void Interpreter::reset() {
  if (lua_ == nullptr) return;
  lua_close(lua_);
  lua_ = nullptr;
  coroutine_ = nullptr;
  keys_.forget();
  args_.forget();
  collected_bytes_ = 0;
}

Interpreter::Compiled Interpreter::compile(std::string_view source) {
  if (lua_ == nullptr) open();
  memory_.set_limit(bare_bytes_ + limits_.memory_bytes_max);
  lua_gc(lua_, LUA_GCSTOP);  // so that the memory that the script takes can be told
  const int status = load(source);
  lua_gc(lua_, LUA_GCRESTART);
  memory_.lift_limit();
  if (status == LUA_OK) {
    const bool may_change = !cannot_change_tables(source);
    if (!may_change) {
      push_plain_globals(lua_);
      lua_setupvalue(lua_, -2, kGlobalsUpvalue);
    }
    return {luaL_ref(lua_, LUA_REGISTRYINDEX), {}, may_change};
  }
  Compiled failed;
  failed.error = fmt::format("ERR Error compiling script (new function): {}",
                             context_.is_aborted != 0 ? kCompilesTooLong : lua_tostring(lua_, -1));
  lua_settop(lua_, 0);
  collect_if_large();
  return failed;
}

// Active meanwhile, so that it can be aborted.
int Interpreter::load(std::string_view source) {
  context_.is_aborted = 0;
  context_.is_stuck = 0;
  is_compiling_ = 1;
  is_active_ = 1;
  begin_stretch();
  const int status = load_source(lua_, source, kChunkName);
  end_stretch();
  is_active_ = 0;
  is_compiling_ = 0;
  return status;
}

void Interpreter::begin_stretch() {
  stretches_ = stretches_ < INT_MAX ? stretches_ + 1 : 1;
  stretch_ = stretches_;
}

void Interpreter::forget(int function) {
  luaL_unref(lua_, LUA_REGISTRYINDEX, function);
}

void Interpreter::start(const Script& script, std::span<const std::string_view> keys,
                        std::span<const std::string_view> args, ScriptHost& host) {
  INVARIANT(phase_ == Phase::idle, "one script at a time");
  INVARIANT(lua_ != nullptr, "a script was compiled before it runs");
  context_.is_aborted = 0;
  context_.is_stuck = 0;
  is_interrupted_ = 0;
  is_active_ = 1;
  script_ = &script;
  context_.host = &host;
  context_.version = protocol::Version::resp2;
  context_.random.seed(0);
  Arguments arguments{script, keys, args, *this};
  lua_pushcfunction(coroutine_, &run_script);
  lua_pushlightuserdata(coroutine_, &arguments);
  resume_coroutine(1);
}

void Interpreter::resume() {
  INVARIANT(phase_ == Phase::suspended, "only a suspended script goes on");
  is_interrupted_ = 0;  // one that came since: else a fast timer would leave no slice any work
  if (context_.is_aborted != 0) {
    finish_with_error(abort_error(context_));
  } else {
    resume_coroutine(0);
  }
}

// The bottom of the coroutine's stack: it fills KEYS and ARGV, as that can fail for lack of memory
// and must not do so unprotected, and calls the script.
int Interpreter::run_script(lua_State* lua) {
  const Arguments arguments = *static_cast<const Arguments*>(lua_touserdata(lua, 1));
  const bool may_change = arguments.script.may_change_tables_;
  may_change ? push_globals(lua) : push_plain_globals(lua);
  arguments.self.keys_.show(lua, arguments.keys, may_change);
  arguments.self.args_.show(lua, arguments.args, may_change);
  lua_settop(lua, 0);
  lua_rawgeti(lua, LUA_REGISTRYINDEX, arguments.script.function_);
  if (may_change) {
    // The last run may have assigned to _ENV, which is an upvalue of the compiled function.
    lua_rawgeti(lua, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
    lua_setupvalue(lua, -2, kGlobalsUpvalue);
  }
  lua_callk(lua, 0, 1, 0, &return_result);
  return 1;
}

int Interpreter::return_result(lua_State*, int, lua_KContext) {
  return 1;
}

// The count hook, set by an interrupt only. Where it cannot yield it looks again a slice later, or,
// once the script is aborted, raises an error at each instruction outside of any pcall. A script
// that is aborted where it can yield is never resumed: so it has no pcall to catch that with, nor a
// handler to run on in.
void Interpreter::on_instruction_count(lua_State* lua, lua_Debug* record) {
  const ScriptContext& context = script_context(lua);
  const bool can_yield = lua_isyieldable(lua) != 0;
  if (context.is_aborted != 0) {
    if (!can_yield) raise_abort(lua);
  } else {
    lua_sethook(lua, &on_instruction_count, LUA_MASKCOUNT, context.slice_instructions);
  }
  if (!can_yield) return;
  lua_getinfo(lua, "Sl", record);  // here: once it has yielded, Lua tells the line before
  script_context(lua).suspended_at = position_text(*record);
  lua_yield(lua, 0);
}

void Interpreter::resume_coroutine(int argument_count) {
  phase_ = Phase::running;
  context_.suspended_at.clear();
  memory_.set_limit(bare_bytes_ + limits_.memory_bytes_max);
  begin_stretch();
  is_in_lua_ = 1;
  // A signal that came before this line found no running coroutine to set the hook on.
  if (is_interrupted_ != 0) lua_sethook(coroutine_, &on_instruction_count, LUA_MASKCOUNT, 1);
  int result_count = 0;
  const int status = lua_resume(coroutine_, nullptr, argument_count, &result_count);
  is_in_lua_ = 0;
  end_stretch();
  is_interrupted_ = 0;
  memory_.lift_limit();
  INVARIANT(status >= LUA_OK, "no exception but Lua's own passes through Lua");
  if (status == LUA_YIELD && context_.is_aborted == 0) {
    phase_ = Phase::suspended;
  } else {
    finish(status);
  }
}

void Interpreter::finish(int status) {
  if (context_.is_aborted != 0 && status != LUA_OK) {
    return finish_with_error(abort_error(context_));
  }
  if (status != LUA_OK) return finish_with_error(raised_error());
  lua_sethook(coroutine_, nullptr, 0, 0);
  reply_ = to_reply(coroutine_, -1, context_.version);
  lua_settop(coroutine_, 0);
  is_active_ = 0;
  phase_ = Phase::finished;
  if (context_.words.capacity() > kWordsKept) context_.words = {};
  collect_if_large();
}

void Interpreter::finish_with_error(std::string_view error_text) {
  is_active_ = 0;
  reply_ = protocol::Reply::error(fmt::format("{}{}", error_text, error_tail()));
  phase_ = Phase::finished;
  make_coroutine();
  context_.words = {};
  collect_if_large();
}

void Interpreter::kill(std::string_view error_text) {
  INVARIANT(phase_ == Phase::suspended, "only a suspended script is killed");
  finish_with_error(error_text);
}

protocol::Reply Interpreter::take_reply() {
  INVARIANT(phase_ == Phase::finished, "a reply is there when a script has finished");
  phase_ = Phase::idle;
  return std::move(reply_);
}

// On top of the coroutine's stack; up to a zero byte.
std::string_view Interpreter::error_text() const {
  return std::string_view(lua_tostring(coroutine_, -1)).substr(0, kErrorTextBytesMax);
}

// The error value on top of the coroutine's stack, as Redis words it: {err = "CODE text"} as it is,
// anything else as text after "ERR ".
std::string Interpreter::raised_error() const {
  switch (lua_type(coroutine_, -1)) {
    case LUA_TSTRING:
    case LUA_TNUMBER:
      return fmt::format("ERR {}", error_text());
    case LUA_TBOOLEAN:
      return lua_toboolean(coroutine_, -1) != 0 ? "ERR true" : "ERR false";
    case LUA_TNIL:
      return "ERR nil";
    case LUA_TTABLE:
      lua_pushliteral(coroutine_, "err");
      lua_rawget(coroutine_, -2);
      if (lua_isstring(coroutine_, -1) != 0) return std::string(error_text());
      return "ERR the error is a table without err";
    default:
      return fmt::format("ERR the error is a {}", luaL_typename(coroutine_, -1));
  }
}

// Where the script stands, or stood when it failed: the innermost function that is Lua.
std::string Interpreter::error_tail() const {
  std::string position = context_.suspended_at;
  lua_Debug frame;
  for (int level = 0; position.empty() && lua_getstack(coroutine_, level, &frame) != 0; ++level) {
    lua_getinfo(coroutine_, "Sl", &frame);
    if (frame.currentline >= 0) position = position_text(frame);
  }
  if (position.empty()) return fmt::format(" script: {}.", script_->sha1());
  return fmt::format(" script: {}, on {}.", script_->sha1(), position);
}

// Between scripts; also when one has failed to compile.
void Interpreter::collect_if_large() {
  if (memory_.used() > 2 * collected_bytes_ + kLitterBytesMax) collect();
}

void Interpreter::collect() {
  for (const auto push : {&push_globals, &push_plain_globals}) {
    push(lua_);
    keys_.clear(lua_);
    args_.clear(lua_);
    lua_settop(lua_, 0);
  }
  lua_gc(lua_, LUA_GCCOLLECT);
  collected_bytes_ = memory_.used();
}

void Interpreter::interrupt() noexcept {
  if (is_active_ == 0) return;
  is_interrupted_ = 1;
  if (is_in_lua_ != 0) lua_sethook(coroutine_, &on_instruction_count, LUA_MASKCOUNT, 1);
}

void Interpreter::abort_running() noexcept {
  if (is_active_ == 0) return;
  context_.is_aborted = 1;
  interrupt();
}

void Interpreter::abort_stuck() noexcept {
  if (is_active_ == 0) return;
  if (context_.is_aborted == 0) context_.is_stuck = 1;
  abort_running();
}

}  // namespace redlock::lua
