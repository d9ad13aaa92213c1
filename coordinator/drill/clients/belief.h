// Belief: what one holding is known by in a history, and whether its client still believes in it.
#pragma once

#include "base/time.h"
#include "coordinator/drill/world/history_file.h"
#include "coordinator/drill/world/store_link.h"

#include <cstdint>
#include <mutex>
#include <string>

namespace redlock::drill {

// What a client was told when it got a lock.
struct ToldLock {
  std::uint64_t token = 0;  // 0: none
  Duration ttl{0};          // as Event::ttl_ms; 0: its validity is not by rule Q2
  Instant valid_until{};
};

// A guard tells of extensions and of a loss on the library's thread, so all that changes a belief
// takes turns.
//
// Thread safety: all of it.
class Belief {
 public:
  Belief(HistoryWriter& history, std::string client, std::string lock, std::string hold);

  void begin(Instant asked, const ToldLock& lock);
  // A guard tells of each extension before anybody relies on it: so the history has it right behind
  // the reply that decided it.
  void extend(Instant valid_until);
  void lose(std::string why) { end(What::lost, std::move(why)); }
  void release() { end(What::releases, {}); }
  // Its validity is over, and was relied on until then, to the last.
  void run_out();

  bool is_over() const;
  StoreWrite write(std::uint64_t token) const { return {client_, hold_, lock_, token}; }

 private:
  Event its(What what) const;
  void end(What what, std::string why);
  void tell_end();
  void tell(const Event& event);

  HistoryWriter& history_;
  const std::string client_;
  const std::string lock_;
  const std::string hold_;
  mutable std::mutex mutex_;
  Instant valid_until_{};
  bool began_ = false;
  bool over_ = false;
  What end_ = What::releases;  // once it is over
  std::string why_;
};

}  // namespace redlock::drill
