// Engine: runs the scripts of EVAL, one at a time, in a Lua 5.4 that is closed to the world.
//
// A script sees string, table, math, bit and the harmless part of the base library, KEYS and ARGV,
// and `redis` (also called `server`), whose call() reaches the ScriptHost. Nothing that it does
// lasts beyond it but what the host did: globals and libraries are read-only, and each script
// starts with the same random numbers.
//
//   const Engine::Loaded loaded = engine.load(body);
//   if (loaded.script == nullptr) return Reply::error(loaded.error);
//   if (engine.start(*loaded.script, keys, args, host) == Engine::Progress::finished)
//     return engine.take_reply();
//   … answer others with -BUSY, and now and then: engine.resume(), or engine.kill(…)
//
// Time. The engine reads no clock. The owner sets a timer and calls interrupt() from its signal
// handler: the script is suspended at its next instruction (start() or resume() returns
// `suspended`) and goes on in slices. Where Lua cannot yield, inside a match of a pattern, a
// comparison of table.sort or a callback of string.gsub, it runs on; abort_running() ends it even
// there, and so does abort_stuck(), for when it has not given way for long: stretch() tells that.
// Until the first interrupt no hook is set, as a standing one would double the time of every
// instruction. To compile is a stretch that cannot be suspended either.
//
// Memory. Limits::memory_bytes_max, then "not enough memory" in the script.
//
// The Lua state is made when the first script is compiled. Engines share nothing: several may live
// in one process. One engine is used by one thread.
#pragma once

#include "lua/engine/compiled_scripts.h"
#include "lua/engine/script.h"
#include "lua/engine/script_host.h"
#include "lua/library/limits.h"
#include "protocol/resp/reply.h"
#include "protocol/resp/request.h"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace redlock::lua {

class Interpreter;

class Engine {
 public:
  enum class Progress { finished, suspended };
  enum class Keep {
    recent,       // EVAL: forgotten when many others were used since
    until_flush,  // SCRIPT LOAD
  };
  struct Loaded {
    const Script* script = nullptr;  // valid until the next load(), find() or flush()
    std::string error;               // of a nullptr: a Redis error text
  };

  // `redis_version`, as "7.2.4", is what scripts read in REDIS_VERSION and REDIS_VERSION_NUM.
  Engine(const Limits& limits, std::string redis_version);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // The script of this body, compiled if it is new. REQUIRES: no script is active, as for find(),
  // flush() and start().
  Loaded load(std::string_view body, Keep keep = Keep::recent);
  // The same without compiling any: nullptr if it is new.
  const Script* find_loaded(std::string_view body);
  // By its SHA-1 in hex, any case: one that was loaded, or one of known_scripts().
  // nullptr if unknown.
  const Script* find(std::string_view sha1);
  // Forgets every script and gives all memory back; known_scripts() stay known.
  void flush();

  std::size_t script_count() const { return scripts_.size(); }
  // What Lua has allocated, and the bodies.
  std::size_t memory_bytes() const;

  // Runs the script to its end, or until it is suspended. `host` must live, and the script stay,
  // until it has finished; keys and args are copied. Returns when redis.call does: replies of the
  // host that are `later` are not for scripts.
  Progress start(const Script& script, std::span<const std::string_view> keys,
                 std::span<const std::string_view> args, ScriptHost& host);
  // The next slice of a suspended script; an interrupt() makes it shorter.
  Progress resume();
  // Ends a suspended script: take_reply() is this error, with Redis's tail that names the script.
  void kill(std::string_view error_text);
  // What the script returned, or its error. Owns its text. REQUIRES: a script has finished, and its
  // reply was not taken yet.
  protocol::Reply take_reply();

  // Active: from start() until it has finished.
  bool is_active() const;
  bool is_running() const;    // within start() or resume()
  bool is_suspended() const;  // between them

  // Both may be called by a signal handler on the engine's own thread, at any time, and by the
  // host; they do nothing when no script is active, so a timer that is late does no harm. Suspends
  // the running script where it can yield.
  void interrupt() noexcept;
  // Ends the script with kTimeLimitError, wherever it is; it can neither catch that nor run on.
  void abort_running() noexcept;
  // The same with kStuckError; of a script that is being compiled, with an error of its own.
  void abort_stuck() noexcept;
  // Which stretch of work in Lua is under way, without a place where others could be answered: the
  // number changes with each. 0: none. For signal handlers, too, as is_compiling().
  int stretch() const noexcept;
  bool is_compiling() const noexcept;
  // Whether the last script, or the last that was compiled, was ended by one of the two.
  bool was_aborted() const noexcept;

 private:
  Loaded compile(std::string_view body);
  void make_room();

  const Limits limits_;
  CompiledScripts scripts_;
  const std::unique_ptr<Interpreter> interpreter_;
};

}  // namespace redlock::lua
