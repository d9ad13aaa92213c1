// The processes that descend from one: found in /proc, looked at, and killed.
//
// A process group is not all that a command has started: setsid, a daemon's double fork, and a
// shell with job control leave it. Whoever they are, their parents lead to the command, or to the
// one that takes over its orphans (PR_SET_CHILD_SUBREAPER), which is where the walk begins.
//
// But for the lists of children nothing here allocates, locks, or throws, so a process that was
// just forked may call it (a thread that is gone there may have held malloc's lock at the fork).
//
// What a walk cannot promise: /proc is no snapshot. A process that forks while we look can be
// missed, and so can a child whose number is below its parent's (numbers wrap). So whoever kills
// walks again until nothing is left: the killed parents' children are then the root's own, which no
// walk misses for long. That nothing is left tells waitid(2), in the root, by ECHILD.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace redlock::coordinator {

struct ProcessEntry {
  pid_t pid = 0;
  pid_t parent = 0;
  pid_t group = 0;
  pid_t session = 0;
  char state = 'X';    // as in ps: R, S, D, T, Z …; that of its first thread
  int threads = 0;     // that have not ended, and the first
  char name[16] = {};  // the first 15 bytes of it

  // One that has ended and only waits to be reaped is not: nobody may ever reap it (the first
  // process of a container often does not). One whose first thread alone has ended (pthread_exit
  // in main) works on, though its state is the same.
  bool is_alive() const { return (state != 'Z' && state != 'X') || threads > 1; }
};

// Whether /proc is there and numbers processes as we do: a new pid namespace that got no /proc of
// its own (unshare -pf) shows others under our numbers, so nothing may be killed by it.
bool proc_is_ours();

// From /proc/PID/stat. False, for one that has gone meanwhile.
bool read_process(pid_t pid, ProcessEntry& entry);

// The children of the calling process, those that have ended and were not reaped among them, as the
// kernel has them: an orphan that it takes over stands there from the instant at which its parent
// has ended. nullopt: this kernel does not tell (CONFIG_PROC_CHILDREN).
std::optional<std::vector<pid_t>> read_children();
// The same by looking at all processes, where it does not.
std::vector<pid_t> find_children();

// The numbers of all processes, ascending.
class ProcessListing {
 public:
  ProcessListing();
  ~ProcessListing();
  ProcessListing(const ProcessListing&) = delete;
  ProcessListing& operator=(const ProcessListing&) = delete;

  bool is_open() const { return folder_ >= 0; }  // false where no /proc is
  pid_t next();                                  // 0 at the end

 private:
  int folder_;
  std::size_t size_ = 0;
  std::size_t position_ = 0;
  alignas(8) char entries_[8192];
};

class ProcessTree {
 public:
  // strangers: children of the root that do not count, with all that descends from them. Both must
  // outlive it.
  explicit ProcessTree(pid_t root, std::span<const pid_t> strangers = {});
  ~ProcessTree();
  ProcessTree(const ProcessTree&) = delete;
  ProcessTree& operator=(const ProcessTree&) = delete;

  // visit(const ProcessEntry&) for each descendant, zombies among them; mostly parents first.
  template <class Visit>
  void walk(Visit visit);

  // SIGKILL to each, at the moment when it is found: what forks without end must not gain time.
  // Where a group holds only descendants, it is killed as a whole, which no fork escapes: the
  // command's, and all groups of sessions that are not ours. How many were alive.
  std::size_t kill_all(pid_t command_group);

  // The same to those that the last walk has found and that are still there, without the long look
  // at all processes: on a busy machine that may cost the processor halfway.
  void kill_known(pid_t command_group);

 private:
  void begin() { found_count_ = 0; }
  void kill_one(const ProcessEntry& entry, pid_t command_group);
  bool belongs(const ProcessEntry& entry) const;
  void add(pid_t pid);

  pid_t root_;
  std::span<const pid_t> strangers_;
  pid_t* found_;  // ascending; address space for as many as a kernel can number
  std::size_t found_count_ = 0;
  const pid_t our_session_;
  pid_t killed_group_ = 0;  // the last one
};

template <class Visit>
void ProcessTree::walk(Visit visit) {
  begin();
  ProcessListing listing;
  while (const pid_t pid = listing.next()) {
    ProcessEntry entry;
    if (!read_process(pid, entry) || !belongs(entry)) continue;
    add(pid);
    visit(entry);
  }
}

}  // namespace redlock::coordinator
