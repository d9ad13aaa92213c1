// A small real key-value store as the host of scripts, and an engine that runs them on it.
#pragma once

#include "lua/engine/engine.h"

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::lua {

// Knows GET SET DEL EXISTS INCR MGET PTTL PEXPIRE ECHO PING, with Redis's answers, and SHAPE NAME,
// which answers with one of RESP3's shapes. Its replies are views into itself, valid until the next
// call, as a node's are.
class KeyValueHost : public ScriptHost {
 public:
  protocol::Reply call(protocol::Request request) override;
  void log(LogLevel level, std::string_view text) override;

  std::map<std::string, std::string, std::less<>> values;
  std::vector<std::string> log_lines;     // "level text"
  std::vector<std::string> last_request;  // its words
  std::size_t calls = 0;
  std::function<void()> on_call;

 private:
  protocol::Reply increment(std::string_view key);
  protocol::Reply answer(protocol::Request request);

  std::string last_text_;  // overwritten by the next call: a view that is kept shows
};

using Words = std::vector<std::string_view>;

struct ScriptFixture {
  explicit ScriptFixture(const Limits& limits = {}) : engine(limits, "7.2.4") {}

  // Loads and starts; the script must finish at once.
  protocol::Reply run(std::string_view body, const Words& keys = {}, const Words& args = {});
  // The same, as Reply::to_string() tells it.
  std::string operator()(std::string_view body, const Words& keys = {}, const Words& args = {});
  // Loads and starts.
  Engine::Progress start(std::string_view body);

  KeyValueHost host;
  Engine engine;
};

// "-ERR text script: <sha of the body>, on @user_script:<line>."
std::string error_of(std::string_view text, std::string_view body, int line = 1);

}  // namespace redlock::lua
