// Deadlines: when the operations of a group want to be called, the earliest first.
//
// Almost all operations wait equally long, so that their deadlines come in order; and almost all
// are over long before. So deadlines that come in order stand in a row, from whose front those of
// operations that are over are dropped at each new one: some dozens stay in memory that is warm,
// where a heap of half a second's operations would be megabytes. The others stand in a heap, where
// those of operations that are over stay until their time comes.
#pragma once

#include "base/time.h"
#include "coordinator/link/node_request.h"
#include "coordinator/link/ring.h"

#include <functional>
#include <queue>
#include <vector>

namespace redlock::coordinator {

class Deadlines {
 public:
  struct Deadline {
    Instant when = {};
    OperationId operation = kNobody;
    friend bool operator>(const Deadline& a, const Deadline& b) { return a.when > b.when; }
  };

  bool empty() const { return in_order_.empty() && others_.empty(); }
  // REQUIRES: not empty.
  const Deadline& earliest() const { return is_in_order() ? in_order_.front() : others_.top(); }
  void drop_earliest() {
    if (is_in_order()) {
      in_order_.take_front();
    } else {
      others_.pop();
    }
  }

  // is_over(operation): nobody is to be called for it.
  template <class IsOver>
  void add(const Deadline& deadline, IsOver is_over) {
    while (!in_order_.empty() && is_over(in_order_.front().operation)) in_order_.take_front();
    if (in_order_.empty() || deadline.when >= in_order_.back().when) {
      in_order_.push_back(Deadline(deadline));
    } else {
      others_.push(deadline);
    }
  }

 private:
  bool is_in_order() const {
    if (in_order_.empty() || others_.empty()) return others_.empty();
    return in_order_.front().when <= others_.top().when;
  }

  Ring<Deadline> in_order_;
  std::priority_queue<Deadline, std::vector<Deadline>, std::greater<>> others_;
};

}  // namespace redlock::coordinator
