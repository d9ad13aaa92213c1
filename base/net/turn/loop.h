// One event loop: libuv's, with one receive buffer for all of its streams.
//
// Thread safety: none; everything of a loop belongs to the thread that runs it. All handles must be
// destroyed before their loop; the destructor of one of its own runs it until their close callbacks
// have come.
#pragma once

#include "base/time.h"
#include <redlock/result.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

struct uv_loop_s;

namespace redlock::net {

class CostlyWork;

class Loop {
 public:
  Loop();
  // The same, and the failure where the system gives too few descriptors or no memory.
  static Result<std::unique_ptr<Loop>> make();
  // On a loop that belongs to somebody else, who runs it, outlives this object and closes it.
  explicit Loop(uv_loop_s* adopted);
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  // Until stop(), or until nothing is left that could wake it.
  void run();
  void stop();
  // Lets go of it when what runs on the loop now has returned.
  void keep_for_a_turn(std::shared_ptr<void> object);

  // Shared by all that strangers can ask for.
  CostlyWork& costly_work();

  uv_loop_s* raw() { return raw_; }

  // Shared by all streams: whoever is handed bytes must consume or copy them before it returns.
  std::vector<char>& receive_buffer() { return receive_buffer_; }
  // Likewise, for what streams with channels (sockets/channel.h) take from their peers and send.
  std::vector<char>& unsealed_buffer() { return unsealed_buffer_; }
  std::string& sealed_buffer() { return sealed_buffer_; }

 private:
  explicit Loop(std::unique_ptr<uv_loop_s> own);

  std::unique_ptr<uv_loop_s> own_;
  uv_loop_s* raw_;
  std::vector<char> receive_buffer_;
  std::vector<char> unsealed_buffer_;
  std::string sealed_buffer_;
  std::unique_ptr<CostlyWork> costly_work_;  // from when somebody first asked for it
};

}  // namespace redlock::net
