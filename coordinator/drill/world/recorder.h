// What a drill itself tells of: its own file of the history, and how many of what it told.
#pragma once

#include "base/net/turn/clock.h"
#include "coordinator/drill/world/history_file.h"

#include <string>
#include <utility>

namespace redlock::drill {

// Thread safety: none.
class Recorder {
 public:
  explicit Recorder(HistoryWriter file) : file_(std::move(file)) {}

  // Now.
  void tell(std::string who, What what) { tell(Event{.who = std::move(who), .what = what}); }
  // Fills in the time. A file that cannot be written is told by problem().
  void tell(Event event) {
    event.at = net::holder_now();
    add(event);
  }
  // What has its time already.
  void add(const Event& event) { keep(file_.write(event)); }
  void tell(const HistoryHeader& header) { keep(file_.write(header)); }

  // The first thing that went wrong.
  const Status& problem() const { return problem_; }

 private:
  void keep(const Status& written) {
    if (problem_ && !written) problem_ = written;
  }

  HistoryWriter file_;
  Status problem_ = Done{};
};

// As histories name them, from an index.
inline std::string node_name(std::size_t node) {
  return "node " + std::to_string(node + 1);
}
inline std::string client_name(std::size_t client) {
  return "client " + std::to_string(client + 1);
}
inline std::string door_name(std::size_t door) {
  return "door " + std::to_string(door + 1);
}
inline std::string changer_name(std::size_t changer) {
  return "changer " + std::to_string(changer + 1);
}

}  // namespace redlock::drill
