// load_generator --port P [OPTION...] -- COMMAND [THEN COMMAND...]: load on a server, and what it
// answered, as one line of JSON. See load.h and request_template.h.
//
//   load_generator --port 7001 --pipeline 64 -- SET {key} {value} NX PX 30000
//
// An error among the replies, or a missing reply, ends it with exit status 1: a server that refuses
// is not measured.
#include "tests/bench/command_words.h"
#include "tests/bench/key_order.h"
#include "tests/bench/load.h"

#include <cstdio>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace redlock::bench {
namespace {

struct Arguments {
  LoadPlan load;
  KeyPlan keys;
  bool once = false;
  std::vector<std::string> words;
};

void declare(CLI::App& app, Arguments& given) {
  app.add_option("--port", given.load.port)->required();
  app.add_option("--connections", given.load.connections, "how many (50)")
      ->check(CLI::PositiveNumber);
  app.add_option("--pipeline", given.load.pipeline, "requests in flight on each (1)")
      ->check(CLI::PositiveNumber);
  app.add_option("--rounds", given.keys.rounds, "how often the commands are sent (1000000)");
  app.add_option("--keys", given.keys.keys, "of how many keys (1000000)")
      ->check(CLI::PositiveNumber);
  app.add_flag("--once", given.once, "no key twice");
  app.add_option("--seed", given.keys.seed, "which keys");
  app.add_option("--order", given.keys.order, "in which order");
  app.add_option("--deadline", given.load.first_deadline_ms, "{deadline}, ms since 1970");
  app.add_option("--deadline-span", given.load.deadline_span_ms, "it is spread over so many ms");
  app.add_option("--pid", given.load.server_pid, "whose CPU is counted");
  app.add_option("words", given.words, "COMMAND [THEN COMMAND...]")->required();
}

void print(const LoadResult& result, const std::vector<std::uint32_t>& keys, const KeyPlan& plan) {
  std::string replies;
  for (std::size_t i = 0; i < result.replies.commands(); ++i) {
    const ReplyCounts& counts = result.replies.counts(i);
    replies += fmt::format(R"({}{{"hits":{},"misses":{}}})", i == 0 ? "" : ",", counts.hits,
                           counts.misses);
  }
  fmt::print(R"({{"rounds":{},"distinct_keys":{},"seconds":{:.6f},"server_cpu_ns":{},)"
             R"("reply_bytes":{},"replies":[{}]}})"
             "\n",
             keys.size(), distinct_keys(keys, plan.keys), result.seconds, result.server_cpu_ns,
             result.replies.bytes(), replies);
}

int usage(std::string_view text) {
  fmt::print(stderr, "load_generator: {}\n", text);
  return 64;
}

int run(Arguments given) {
  const auto commands = split_commands(given.words);
  if (commands.empty()) return usage("a command is missing beside THEN");
  const RequestTemplate round(commands);
  if (given.load.pipeline == 1) given.load.pipeline = commands.size();
  if (given.load.pipeline % commands.size() != 0) {
    return usage("the pipeline must hold a whole number of rounds");
  }
  if (given.once) given.keys.draw = Draw::once;
  if (given.once && given.keys.rounds > given.keys.keys) return usage("there are fewer keys");
  const auto keys = key_order(given.keys);
  const LoadResult result = run_load(given.load, round, keys);
  if (!result.problem.empty()) {
    fmt::print(stderr, "load_generator: {}\n", result.problem);
    return 1;
  }
  print(result, keys, given.keys);
  return 0;
}

}  // namespace
}  // namespace redlock::bench

int main(int argc, char** argv) {
  CLI::App app("load on a server, and what it answered");
  redlock::bench::Arguments given;
  redlock::bench::declare(app, given);
  CLI11_PARSE(app, argc, argv);
  return redlock::bench::run(std::move(given));
}
