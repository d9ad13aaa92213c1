// WorkingProcess: what the processes that work under locks in a drill have in common, however they
// get their locks: an attempt after the other until SIGTERM, each at a lock drawn from the seed;
// the work itself, writes to the store (client_process.h has the rules of careful programs); and a
// watch that tells when the machine did not let the process run, as nothing is noticed then.
#pragma once

#include "base/random.h"
#include "base/time.h"
#include "coordinator/drill/clients/belief.h"
#include "coordinator/drill/clients/client_settings.h"
#include "coordinator/drill/world/history_file.h"
#include "coordinator/drill/world/store_link.h"
#include <redlock/result.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace redlock::drill {

// So that a process ends with its work: SIGTERM tells it to.
void heed_end();
bool is_told_to_end();

class WorkingProcess {
 public:
  virtual ~WorkingProcess() = default;

  // Until it is told to end. The error: the drill cannot go on.
  Status run();

 protected:
  WorkingProcess(const ClientProcessSettings& settings, HistoryWriter history, StoreLink store);
  WorkingProcess(const WorkingProcess&) = delete;
  WorkingProcess& operator=(const WorkingProcess&) = delete;

  // One attempt at lock_, and if it succeeds the holding, to its end.
  virtual void hold() = 0;

  void refused(std::string why);
  // The attempt under way waits, for settings_.wait since it began. Any thread.
  void waits();
  // Writes to the store until then, while both this and the belief say that the lock is held.
  void work(std::uint64_t token, Instant until, const std::function<bool()>& is_valid);

  bool is_first() const { return holds_ == 1; }
  bool chance(std::uint64_t percent) { return random_.below(100) < percent; }
  std::uint64_t pick(std::uint64_t count) { return random_.below(count); }
  Duration between(Duration least, Duration most);
  Duration ttls(double least, double most);
  static void sleep(Duration length);

  const ClientProcessSettings& settings_;
  const Duration notice_;  // before the end of its validity a lock counts as lost

  // Of the attempt under way.
  std::string lock_;
  std::string hold_;
  Instant asked_{};
  std::shared_ptr<Belief> belief_;  // a guard's callback has it, too

 private:
  void next_lock();
  void watch();

  Random random_;
  HistoryWriter history_;
  StoreLink store_;
  Status problem_ = Done{};
  std::uint64_t holds_ = 0;
  std::atomic<bool> is_over_ = false;
};

}  // namespace redlock::drill
