// A script call: the release script, with a host that answers at once. So it is what Lua and the
// bridge to it cost, without a table.
#include "lua/engine/engine.h"

#include <array>
#include <benchmark/benchmark.h>

namespace redlock::lua {
namespace {

constexpr std::string_view kRelease =
    "if redis.call('get',KEYS[1]) == ARGV[1] then return redis.call('del',KEYS[1]) "
    "else return 0 end";
constexpr std::array<std::string_view, 1> kKeys = {"lock:000000000017"};
constexpr std::array<std::string_view, 1> kArgs = {"0123456789abcdef0123456789ab000000000017"};

// GET answers this value, everything else 1.
class Held final : public ScriptHost {
 public:
  protocol::Reply call(protocol::Request request) override {
    return request[0] == "get" ? protocol::Reply::bulk_view(kArgs[0]) : protocol::Reply::integer(1);
  }
  void log(LogLevel /*level*/, std::string_view /*text*/) override {}
};

void run_script(benchmark::State& state, std::string_view body) {
  Engine engine({}, "7.2.4");
  Held host;
  for (auto _ : state) {
    const Engine::Loaded loaded = engine.load(body);
    if (engine.start(*loaded.script, kKeys, kArgs, host) != Engine::Progress::finished) {
      return state.SkipWithError("the script did not finish");
    }
    const protocol::Reply reply = engine.take_reply();
    if (reply.is_error()) return state.SkipWithError("the script failed");
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK_CAPTURE(run_script, release, kRelease);
BENCHMARK_CAPTURE(run_script, nothing, "return 1");

void load_known_script(benchmark::State& state) {
  Engine engine({}, "7.2.4");
  for (auto _ : state) benchmark::DoNotOptimize(engine.load(kRelease).script);
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(load_known_script);

}  // namespace
}  // namespace redlock::lua
