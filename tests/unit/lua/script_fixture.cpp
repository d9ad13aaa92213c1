#include "script_fixture.h"

#include "base/invariant.h"
#include "base/text/number.h"
#include "base/text/words.h"
#include "lua/scripts/sha1_text.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

namespace redlock::lua {
namespace {

using protocol::Reply;

std::vector<Reply> pair(Reply first, Reply second) {
  std::vector<Reply> items;
  items.push_back(std::move(first));
  items.push_back(std::move(second));
  return items;
}

Reply shape(std::string_view name) {
  if (name == "map") return Reply::map(pair(Reply::bulk("field"), Reply::integer(1)));
  if (name == "set") return Reply::set(pair(Reply::bulk("a"), Reply::bulk("b")));
  if (name == "real") return Reply::real(1.5);
  if (name == "big") return Reply::big_number("12345678901234567890");
  if (name == "verbatim") return Reply::verbatim("some text");
  if (name == "true") return Reply::boolean(true);
  if (name == "false") return Reply::boolean(false);
  if (name == "null") return Reply::null();
  if (name == "null-array") return Reply::null_array();
  if (name == "nested") {
    return Reply::array(pair(Reply::integer(1), Reply::array(pair(Reply::ok(), Reply::null()))));
  }
  return Reply::error("ERR no such shape");
}

}  // namespace

Reply KeyValueHost::call(protocol::Request request) {
  ++calls;
  last_request.assign(request.begin(), request.end());
  if (on_call) on_call();
  return answer(request);
}

void KeyValueHost::log(LogLevel level, std::string_view text) {
  log_lines.push_back(fmt::format("{} {}", static_cast<int>(level), text));
}

Reply KeyValueHost::increment(std::string_view key) {
  std::string& value = values.try_emplace(std::string(key), "0").first->second;
  const std::optional<std::int64_t> number = parse_int64(value);
  if (!number) return Reply::error_view("ERR value is not an integer or out of range");
  value = std::to_string(*number + 1);
  return Reply::integer(*number + 1);
}

Reply KeyValueHost::answer(protocol::Request request) {
  const auto is = [&](std::string_view name, std::size_t words) {
    return equals_ignoring_case(request[0], name) && request.size() >= words;
  };
  const auto text_of = [&](std::string_view key) {
    const auto found = values.find(key);
    if (found == values.end()) return Reply::null();
    last_text_ = found->second;
    return Reply::bulk_view(last_text_);
  };
  if (is("GET", 2)) return text_of(request[1]);
  if (is("EXISTS", 2)) return Reply::integer(values.count(std::string(request[1])) > 0 ? 1 : 0);
  if (is("DEL", 2)) return Reply::integer(values.erase(std::string(request[1])) > 0 ? 1 : 0);
  if (is("INCR", 2)) return increment(request[1]);
  if (is("PTTL", 2)) return Reply::integer(values.count(std::string(request[1])) > 0 ? 1000 : -2);
  if (is("PEXPIRE", 3)) return Reply::integer(values.count(std::string(request[1])) > 0 ? 1 : 0);
  if (is("ECHO", 2)) return Reply::bulk_view(last_text_ = request[1]);
  if (is("PING", 1)) return Reply::status_view("PONG");
  if (is("SHAPE", 2)) return shape(request[1]);
  if (is("SET", 3)) {
    if (request.size() > 3 && equals_ignoring_case(request[3], "NX") &&
        values.count(std::string(request[1])) > 0) {
      return Reply::null();
    }
    values[std::string(request[1])] = request[2];
    return Reply::ok();
  }
  if (is("MGET", 2)) {
    std::vector<Reply> items;
    for (const std::string_view key : request.subspan(1)) items.push_back(text_of(key).owned());
    return Reply::array(std::move(items));
  }
  for (const std::string_view known : {"GET", "SET", "INCR", "DEL"}) {
    if (equals_ignoring_case(request[0], known)) {
      return Reply::error_view("ERR Wrong number of args calling Redis command from script");
    }
  }
  return Reply::error_view("ERR Unknown Redis command called from script");
}

Engine::Progress ScriptFixture::start(std::string_view body) {
  const Engine::Loaded loaded = engine.load(body);
  INFO(loaded.error);
  REQUIRE(loaded.script != nullptr);
  return engine.start(*loaded.script, {}, {}, host);
}

Reply ScriptFixture::run(std::string_view body, const Words& keys, const Words& args) {
  Engine::Loaded loaded = engine.load(body);
  if (loaded.script == nullptr) return Reply::error(std::move(loaded.error));
  const Engine::Progress progress = engine.start(*loaded.script, keys, args, host);
  REQUIRE(progress == Engine::Progress::finished);
  return engine.take_reply();
}

std::string ScriptFixture::operator()(std::string_view body, const Words& keys, const Words& args) {
  return run(body, keys, args).to_string();
}

std::string error_of(std::string_view text, std::string_view body, int line) {
  return fmt::format("-{} script: {}, on @user_script:{}.", text, sha1_text(body), line);
}

}  // namespace redlock::lua
