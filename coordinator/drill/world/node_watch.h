// NodeWatch: asks the nodes again and again how they are, and tells the history when one begins to
// wait out its restart delay and when it grants locks again: for whoever looks at the picture.
//
// Thread safety: none; all on the loop's thread.
#pragma once

#include "base/net/turn/timer.h"
#include "coordinator/drill/world/recorder.h"
#include "coordinator/drill/world/stage.h"
#include <redlock/client.h>

#include <string>
#include <vector>

namespace redlock::drill {

class NodeWatch {
 public:
  NodeWatch(Stage& stage, Recorder& recorder, const std::vector<std::string>& addresses);
  NodeWatch(const NodeWatch&) = delete;
  NodeWatch& operator=(const NodeWatch&) = delete;

 private:
  enum class Known { recovering, serving };

  void ask();
  void hear(const std::vector<NodeState>& states);

  Recorder& recorder_;
  std::vector<Known> known_;
  Client client_;
  net::Timer next_;
};

}  // namespace redlock::drill
