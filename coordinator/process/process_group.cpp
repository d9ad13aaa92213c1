#include "coordinator/process/process_group.h"

#include "coordinator/process/process_tree.h"

#include <cerrno>
#include <csignal>

namespace redlock::coordinator {

bool group_is_alive(pid_t group) {
  if (kill(-group, 0) != 0 && errno == ESRCH) return false;
  ProcessListing listing;
  if (!listing.is_open()) return true;
  while (const pid_t pid = listing.next()) {
    ProcessEntry entry;
    if (read_process(pid, entry) && entry.group == group && entry.is_alive()) return true;
  }
  return false;
}

}  // namespace redlock::coordinator
