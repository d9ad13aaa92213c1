// How long a holder may rely on its lock: computed for each acquisition,
// twice where a token is confirmed.
#include "coordinator/quorum/validity.h"

#include <benchmark/benchmark.h>

namespace redlock::coordinator {
namespace {

void compute_validity(benchmark::State& state) {
  Instant start(1h);
  double drift = 0.01;
  benchmark::DoNotOptimize(drift);
  for (auto _ : state) {
    benchmark::DoNotOptimize(start += 1us);
    benchmark::DoNotOptimize(validity_end(start, 30s, drift));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(compute_validity);

}  // namespace
}  // namespace redlock::coordinator
