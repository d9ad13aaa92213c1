// Guard::Several: locks of several names, all or none, each kept while the next is waited for.
//
// They are acquired one after the other, in the order of their names' bytes: two who want the same
// names never wait for each other (a total order has no cycle, so no deadlock). A failure lets go
// of those that were got.
//
// Thread safety: none; on the client's thread.
#pragma once

#include "base/hidden.h"
#include "coordinator/client/client_core.h"
#include "coordinator/client/guard_keeping.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace redlock {

class REDLOCK_HIDDEN Guard::Several : public std::enable_shared_from_this<Guard::Several> {
 public:
  using Tell = Client::Core::Tell<std::vector<Guard>>;

  // names: each once. `tell` is called once, unless it is undone before.
  Several(Client::Core& core, std::vector<std::string> names, GuardOptions options, Duration notice,
          Tell tell);
  void begin() { acquire_next(); }
  void undo();

 private:
  void acquire_next();
  void on_end(const coordinator::AcquireResult& result);
  void conclude();
  void fail(Error error);

  Client::Core& core_;
  const std::vector<std::string> names_;
  const GuardOptions options_;
  const Duration notice_;
  const Tell tell_;
  const Instant start_;
  std::vector<std::size_t> order_;               // of names_
  std::size_t next_ = 0;                         // of order_
  std::vector<Guard> guards_;                    // by name
  std::optional<Client::Core::Undo> under_way_;  // of the acquisition, as long as there is one
};

}  // namespace redlock
