#include "coordinator/quorum/floor.h"

#include "coordinator/quorum/quorum.h"

#include <algorithm>

namespace redlock::coordinator {

std::optional<Floor> floor_of(std::vector<Token> counters, std::size_t nodes) {
  const std::size_t unread = nodes - counters.size();
  const std::size_t quorum = quorum_of(nodes);
  if (unread >= quorum) return std::nullopt;
  std::sort(counters.rbegin(), counters.rend());
  const std::size_t knowing = quorum - unread;  // q - (N - r)
  const Token token = counters[knowing - 1];
  return Floor{token, knowing < counters.size() ? counters[knowing] : token};
}

}  // namespace redlock::coordinator
