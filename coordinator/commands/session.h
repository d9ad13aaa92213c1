// One subcommand's time on the loop: a client over the nodes, interrupted by signals,
// ended by finish().
#pragma once

#include "base/net/turn/loop.h"
#include "base/net/turn/signal.h"
#include "coordinator/cli/options.h"
#include <redlock/client.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace redlock::coordinator {

class CommandSession {
 public:
  // Whether it admits unfenced nodes that it meets: a subcommand that only looks changes nothing.
  enum class Admits : std::uint8_t { no, yes };

  // Error: too few descriptors, or an option that only a client checks.
  static Result<std::unique_ptr<CommandSession>, Error> begin(const Options& options,
                                                              Admits admits);

  net::Loop& loop() { return *loop_; }
  Client& client() { return client_; }

  // Runs `begin` when the links are made as far as they will be, unless finish() came before, and
  // returns what finish() said.
  int run(std::function<void()> begin);
  // Ends run(), with this exit code.
  void finish(int exit_code);
  // The same, when every undo and release has been answered, or after the node timeout: by then
  // they have at least been sent wherever they could be.
  void finish_when_undone(int exit_code);

  // SIGINT, SIGTERM and SIGHUP call it with their number instead of ending the process.
  void on_interrupt(const std::function<void(int)>& interrupted);

 private:
  CommandSession(std::unique_ptr<net::Loop> loop, Client client)
      : loop_(std::move(loop)), client_(std::move(client)) {}

  std::unique_ptr<net::Loop> loop_;
  int exit_code_ = 0;
  bool is_over_ = false;  // also while the client ends
  Client client_;
  std::vector<std::unique_ptr<net::Signal>> signals_;
};

}  // namespace redlock::coordinator
