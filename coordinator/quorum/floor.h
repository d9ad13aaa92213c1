// The floor: a number that no token which was ever given is larger than, as the nodes' counters
// tell it (rules F6 and F9).
//
// Every token that was given was accepted at a quorum of q nodes, so of r fenced nodes that were
// read, of N, at least q - (N - r) have a counter as large: the (q - (N - r))-th largest of the r
// counters is the floor. With q nodes read that is the largest, with all four others of five the
// second largest, which no single counter that somebody has set can raise. A counter is never left
// out of the reading: it may be the one that knows. A floor that is more than kLeapMax above the
// next largest counter rests on counters that the others do not bear out, and nothing goes by it
// until an operator has helped.
#pragma once

#include "base/token.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace redlock::coordinator {

struct Floor {
  Token token = 0;
  Token next = 0;  // the next largest counter that was read
  bool is_apart() const { return token > next && token - next > kLeapMax; }
};

// counters: of the fenced nodes that were read, of so many. nullopt: too few to know.
std::optional<Floor> floor_of(std::vector<Token> counters, std::size_t nodes);

}  // namespace redlock::coordinator
