// Client::Core::Wait: one acquisition that waits, and whoever is told why.
//
// Thread safety: none; on the client's thread.
#pragma once

#include "coordinator/client/client_core.h"

#include <memory>
#include <string>

namespace redlock {

class Client::Core::Wait : public std::enable_shared_from_this<Client::Core::Wait> {
 public:
  Wait(Core& core, std::string name, OnWait on_wait)
      : core_(core), name_(std::move(name)), on_wait_(std::move(on_wait)) {}

  void on_retry(const coordinator::AcquireResult& result);
  // Nobody is told any more.
  void end() { is_over_ = true; }

 private:
  Core& core_;
  const std::string name_;
  const OnWait on_wait_;
  std::string told_;  // the sentence that was told last
  bool is_over_ = false;
};

}  // namespace redlock
