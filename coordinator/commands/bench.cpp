// redlock bench: how many locks these nodes and this machine can give, and how fast.
//
// Locks with names of their own are acquired and released, so many at once, for a while. Only what
// each user of the library does is measured: one client, one loop, one connection to each node.
#include "base/net/turn/timer.h"
#include "coordinator/bench/bench_figures.h"
#include "coordinator/cli/node_report.h"
#include "coordinator/cli/output.h"
#include "coordinator/cli/progress.h"
#include "coordinator/client/holder.h"
#include "coordinator/commands/commands.h"
#include "coordinator/commands/session.h"

#include <ctime>
#include <optional>

#include <fmt/format.h>

namespace redlock::coordinator {
namespace {

// How often what failed is tried again, and the progress is told.
constexpr Duration kLookInterval = 50ms;
// How often the nodes are asked for themselves: what they tell is long, and takes of their time.
constexpr Duration kStatusInterval = 200ms;

Duration process_cpu() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + Duration(time.tv_nsec);
}

class Bench {
 public:
  Bench(const Options& options, CommandSession& session)
      : options_(options),
        session_(session),
        prefix_("redlock-bench:" + new_lock_value() + ":"),
        look_timer_(session_.loop(), net::ClockKind::boottime, [this] { look(); }),
        progress_(options.bench.length, options.json) {
    figures_.in_flight = options.bench.in_flight;
    figures_.ttl = options.ttl;
    figures_.fence = options.fence;
    session_.on_interrupt([this](int number) { end(exit_code::of_signal(number)); });
  }

  int run() {
    if (!write_page("")) return exit_code::kOutput;  // that is found out before, not afterwards
    return session_.run([this] {
      began_ = holder_now();
      cpu_before_ = process_cpu();
      idle_ = options_.bench.in_flight;
      look();
    });
  }

 private:
  void look();
  void ask_nodes();
  void begin_idle();
  void acquire();
  void release(const Lock& lock, Instant asked);
  void on_failed(OperationFigures& operation, const Error& error);
  void end(int exit_code);
  void end_if_idle();
  void tell();
  bool write_page(const std::string& text) const;

  const Options& options_;
  CommandSession& session_;
  const std::string prefix_;
  net::Timer look_timer_;
  DrillProgress progress_;
  BenchFigures figures_;
  Instant began_{};
  Duration cpu_before_{0};
  Duration next_status_{0};
  std::uint64_t names_ = 0;
  int idle_ = 0;  // of the locks that may be in flight
  std::optional<int> exit_code_;
  std::optional<Error> last_error_;
};

void Bench::look() {
  if (exit_code_) return;
  figures_.passed = holder_now() - began_;
  progress_.show(figures_.passed, bench_line(figures_));
  if (figures_.passed >= options_.bench.length) return end(exit_code::kDone);
  if (figures_.passed >= next_status_) ask_nodes();
  begin_idle();
  look_timer_.set(holder_now() + kLookInterval);
}

void Bench::ask_nodes() {
  next_status_ = figures_.passed + kStatusInterval;
  session_.client().status([this](const Result<std::vector<NodeState>, Error>& states) {
    if (states && !exit_code_) figures_.note_nodes(states.value());
  });
}

void Bench::begin_idle() {
  for (; idle_ > 0; --idle_) acquire();
}

void Bench::acquire() {
  const Instant asked = holder_now();
  session_.client().acquire(prefix_ + std::to_string(names_++),
                            {.ttl = options_.ttl, .fence = options_.fence},
                            [this, asked](const Result<Lock, Error>& got) {
                              if (!got) return on_failed(figures_.acquire, got.error());
                              figures_.note_acquired(holder_now() - asked, got.value());
                              release(got.value(), asked);
                            });
}

void Bench::release(const Lock& lock, Instant asked) {
  const Instant held = holder_now();
  session_.client().release(lock, [this, asked, held](const Result<Done, Error>& done) {
    if (!done) return on_failed(figures_.release, done.error());
    const Instant released = holder_now();
    figures_.note_released(released - held, released - asked);
    if (!exit_code_) return acquire();
    ++idle_;
    end_if_idle();
  });
}

// Tried again at the next look: nodes that refuse at once are not asked without pause.
void Bench::on_failed(OperationFigures& operation, const Error& error) {
  figures_.note_failed(operation, error);
  last_error_ = error;
  ++idle_;
  end_if_idle();
}

// Locks that are held are given back first.
void Bench::end(int exit_code) {
  if (exit_code_) return;
  exit_code_ = exit_code;
  figures_.passed = holder_now() - began_;
  figures_.cpu = process_cpu() - cpu_before_;
  end_if_idle();
}

void Bench::end_if_idle() {
  if (!exit_code_ || idle_ < options_.bench.in_flight) return;
  tell();
  if (!write_page(bench_page(figures_))) {
    return session_.finish_when_undone(exit_code::kOutput);
  }
  const bool nothing = *exit_code_ == exit_code::kDone && figures_.pair.count() == 0;
  session_.finish_when_undone(nothing && last_error_ ? exit_code_of(*last_error_) : *exit_code_);
}

void Bench::tell() {
  progress_.clear();
  if (options_.json) {
    print_out("{}\n", bench_json(figures_));
  } else {
    print_text(bench_text(figures_));
  }
  flush_output();
  if (last_error_ && !options_.json) report_failure(options_, *last_error_);
}

bool Bench::write_page(const std::string& text) const {
  const std::string& path = options_.bench.html_file;
  return path.empty() || write_file(path, text);
}

}  // namespace

int command_bench(const Options& options, CommandSession& session) {
  Bench bench(options, session);
  return bench.run();
}

}  // namespace redlock::coordinator
