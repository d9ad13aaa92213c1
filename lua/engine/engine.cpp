#include "lua/engine/engine.h"

#include "base/invariant.h"
#include "lua/engine/interpreter.h"
#include "lua/scripts/known_scripts.h"
#include "lua/scripts/sha1_text.h"

#include <array>
#include <utility>

#include <fmt/format.h>

namespace redlock::lua {

Engine::Engine(const Limits& limits, std::string redis_version)
    : limits_(limits),
      scripts_(limits.hash_seed),
      interpreter_(std::make_unique<Interpreter>(limits, std::move(redis_version))) {}

Engine::~Engine() = default;

Engine::Loaded Engine::load(std::string_view body, Keep keep) {
  INVARIANT(!is_active(), "no script is loaded while one is active");
  if (body.size() > limits_.script_bytes_max) {
    return {nullptr, fmt::format("ERR the script has {} bytes, script-size-limit allows {}",
                                 body.size(), limits_.script_bytes_max)};
  }
  Script* script = scripts_.find_by_body(body);
  if (script == nullptr) {
    Loaded compiled = compile(body);
    if (compiled.script == nullptr) return compiled;
    script = scripts_.find_by_body(body);
  }
  if (keep == Keep::until_flush && !script->is_kept_) {
    if (scripts_.kept_bytes() + script->bytes() > limits_.memory_bytes_max / kCompiledShare) {
      return {nullptr, "ERR too many scripts are loaded, SCRIPT FLUSH forgets them"};
    }
    scripts_.keep(*script);
  }
  return {script, {}};
}

Engine::Loaded Engine::compile(std::string_view body) {
  const ScriptHeader header = read_script_header(body);
  if (!header.error.empty()) return {nullptr, header.error};
  make_room();
  const std::size_t bytes_before = interpreter_->memory_bytes();
  Interpreter::Compiled compiled = interpreter_->compile(header.source);
  if (!compiled.error.empty()) return {nullptr, std::move(compiled.error)};
  const std::size_t bytes = interpreter_->memory_bytes();
  const std::size_t compiled_bytes = bytes > bytes_before ? bytes - bytes_before : 0;
  auto script =
      std::make_unique<Script>(std::string(body), compiled.function, compiled.may_change_tables);
  return {&scripts_.add(std::move(script), header, compiled_bytes), {}};
}

void Engine::make_room() {
  const auto is_full = [this] {
    return scripts_.size() - scripts_.kept_count() >= limits_.recent_scripts_max ||
           scripts_.bytes() > limits_.memory_bytes_max / kCompiledShare;
  };
  while (is_full()) {
    Script* const oldest = scripts_.oldest_recent();
    if (oldest == nullptr) return;
    interpreter_->forget(scripts_.remove(*oldest)->function_);
  }
}

const Script* Engine::find_loaded(std::string_view body) {
  INVARIANT(!is_active(), "no script is looked up while one is active");
  return scripts_.find_by_body(body);
}

const Script* Engine::find(std::string_view sha1) {
  INVARIANT(!is_active(), "no script is looked up while one is active");
  if (sha1.size() != kSha1Digits) return nullptr;
  if (const Script* const last = scripts_.find_last_by_sha1(sha1)) return last;
  std::array<char, kSha1Digits> digits{};
  for (std::size_t i = 0; i < kSha1Digits; ++i) {
    const char digit = sha1[i];
    digits[i] = digit >= 'A' && digit <= 'F' ? static_cast<char>(digit - 'A' + 'a') : digit;
  }
  const std::string_view lower_case(digits.data(), digits.size());
  if (const Script* found = scripts_.find_by_sha1(lower_case)) return found;
  const std::string_view body = known_script_body(lower_case);
  return body.empty() ? nullptr : load(body).script;
}

void Engine::flush() {
  INVARIANT(!is_active(), "no script is forgotten while one is active");
  scripts_.clear();
  interpreter_->reset();
}

std::size_t Engine::memory_bytes() const {
  return interpreter_->memory_bytes() + scripts_.body_bytes();
}

Engine::Progress Engine::start(const Script& script, std::span<const std::string_view> keys,
                               std::span<const std::string_view> args, ScriptHost& host) {
  interpreter_->start(script, keys, args, host);
  return is_suspended() ? Progress::suspended : Progress::finished;
}

Engine::Progress Engine::resume() {
  interpreter_->resume();
  return is_suspended() ? Progress::suspended : Progress::finished;
}

void Engine::kill(std::string_view error_text) {
  interpreter_->kill(error_text);
}

protocol::Reply Engine::take_reply() {
  return interpreter_->take_reply();
}

bool Engine::is_active() const {
  return is_running() || is_suspended();
}

bool Engine::is_running() const {
  return interpreter_->phase() == Interpreter::Phase::running;
}

bool Engine::is_suspended() const {
  return interpreter_->phase() == Interpreter::Phase::suspended;
}

void Engine::interrupt() noexcept {
  interpreter_->interrupt();
}

void Engine::abort_running() noexcept {
  interpreter_->abort_running();
}

void Engine::abort_stuck() noexcept {
  interpreter_->abort_stuck();
}

int Engine::stretch() const noexcept {
  return interpreter_->stretch();
}

bool Engine::was_aborted() const noexcept {
  return interpreter_->was_aborted();
}

bool Engine::is_compiling() const noexcept {
  return interpreter_->is_compiling();
}

}  // namespace redlock::lua
