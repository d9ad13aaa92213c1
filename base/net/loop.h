// One event loop: libuv's, with one receive buffer for all of its streams.
//
// Thread safety: none; everything of a loop belongs to the thread that runs it. All handles must be
// destroyed before their loop; its destructor runs it until their close callbacks have come.
#pragma once

#include <functional>
#include <memory>
#include <vector>

struct uv_loop_s;

namespace redlock::net {

class Loop {
 public:
  Loop();
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  // Until stop(), or until nothing is left that could wake it.
  void run();
  void stop();

  uv_loop_s* raw() { return raw_.get(); }

  // Shared by all streams: whoever is handed bytes must consume or copy them before it returns.
  std::vector<char>& receive_buffer() { return receive_buffer_; }

 private:
  std::unique_ptr<uv_loop_s> raw_;
  std::vector<char> receive_buffer_;
};

}  // namespace redlock::net
