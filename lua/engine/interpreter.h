// Interpreter: one Lua state, and the one script that it runs. Engine's inner half.
//
// The script runs in a coroutine of the interpreter's own, which is used again for the next script
// after one that ended well:
//
//   idle -- start() --> running -- it returns or raises --> finished -- take_reply() --> idle
//                       |    ^                                 ^
//        the hook yields|    |resume()                         | kill(), or resume() when aborted
//                       v    |                                 |
//                      suspended ------------------------------+
//
// A script that failed, or was killed, leaves its coroutine behind as it is, for the collector: to
// close it properly would run its __close handlers, and an error that was raised by a hook leaves
// the coroutine with hooks switched off, so that nothing could stop these.
//
// Signals. interrupt() and abort_running() run in a signal handler, between any two machine
// instructions of this thread. They touch sig_atomic_t flags, and, while the coroutine runs, call
// lua_sethook, which Lua makes safe for that.
#pragma once

#include "lua/engine/memory_account.h"
#include "lua/engine/script.h"
#include "lua/library/limits.h"
#include "lua/library/script_context.h"
#include "lua/library/word_tables.h"
#include "protocol/resp/reply.h"

#include <csignal>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include <lua.hpp>

namespace redlock::lua {

class Interpreter {
 public:
  enum class Phase { idle, running, suspended, finished };
  struct Compiled {
    int function = LUA_NOREF;
    std::string error;  // empty if there is a function
    bool may_change_tables = true;
  };

  Interpreter(const Limits& limits, std::string redis_version);
  ~Interpreter();
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;

  Compiled compile(std::string_view source);
  void forget(int function);
  // Closes the Lua state. The next compile() makes a new one.
  void reset();

  void start(const Script& script, std::span<const std::string_view> keys,
             std::span<const std::string_view> args, ScriptHost& host);
  void resume();
  void kill(std::string_view error_text);
  protocol::Reply take_reply();

  void interrupt() noexcept;
  void abort_running() noexcept;
  void abort_stuck() noexcept;
  bool was_aborted() const noexcept { return context_.is_aborted != 0; }
  int stretch() const noexcept { return stretch_; }
  bool is_compiling() const noexcept { return is_compiling_ != 0; }

  Phase phase() const { return phase_; }
  std::size_t memory_bytes() const { return memory_.used(); }

 private:
  // What run_script finds on the coroutine's stack.
  struct Arguments {
    const Script& script;
    std::span<const std::string_view> keys;
    std::span<const std::string_view> args;
    Interpreter& self;
  };

  // Lua's entry points.
  static int run_script(lua_State* lua);
  static int return_result(lua_State* lua, int status, lua_KContext context);
  static void on_instruction_count(lua_State* lua, lua_Debug* record);

  void open();
  void make_coroutine();
  void resume_coroutine(int argument_count);
  void begin_stretch();
  void end_stretch() { stretch_ = 0; }
  int load(std::string_view source);
  void finish(int status);
  void finish_with_error(std::string_view error_text);
  std::string_view error_text() const;
  std::string raised_error() const;
  std::string error_tail() const;
  void collect_if_large();
  void collect();

  const Limits limits_;
  MemoryAccount memory_;
  std::size_t bare_bytes_ = 0;       // what the sandbox takes, without any script
  std::size_t collected_bytes_ = 0;  // what was alive after the last full collection
  lua_State* lua_ = nullptr;
  lua_State* coroutine_ = nullptr;
  WordTables keys_{"KEYS"};
  WordTables args_{"ARGV"};
  ScriptContext context_;

  Phase phase_ = Phase::idle;
  const Script* script_ = nullptr;
  protocol::Reply reply_;

  // Shared with the signal handler.
  volatile std::sig_atomic_t is_active_ = 0;
  volatile std::sig_atomic_t is_in_lua_ = 0;
  volatile std::sig_atomic_t is_compiling_ = 0;
  volatile std::sig_atomic_t stretch_ = 0;
  int stretches_ = 0;
  volatile std::sig_atomic_t is_interrupted_ = 0;
};

}  // namespace redlock::lua
