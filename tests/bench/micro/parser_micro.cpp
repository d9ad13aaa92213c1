// Bytes to requests: a pipeline of SETs as it comes in one read.
#include "protocol/resp/output_buffer.h"
#include "protocol/resp/request_parser.h"
#include "protocol/resp/request_writer.h"

#include <array>
#include <benchmark/benchmark.h>
#include <string>
#include <string_view>

namespace redlock::protocol {
namespace {

std::string pipeline_of(std::int64_t requests) {
  constexpr std::array<std::string_view, 6> kSet = {
      "SET", "lock:000000000017", "0123456789abcdef0123456789ab000000000017", "NX", "PX", "30000"};
  OutputBuffer out;
  for (std::int64_t i = 0; i < requests; ++i) write_request(kSet, out);
  return std::string(out.view());
}

void parse_requests(benchmark::State& state) {
  const std::string pipeline = pipeline_of(state.range(0));
  RequestParser parser;
  for (auto _ : state) {
    std::string_view rest = pipeline;
    while (parser.parse(rest) == RequestParser::State::complete) {
      benchmark::DoNotOptimize(parser.request().data());
      rest.remove_prefix(parser.consumed());
    }
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(parse_requests)->Arg(1)->Arg(64);

}  // namespace
}  // namespace redlock::protocol
