// JobTerminal: the terminal at standard input, lent to a command as a shell lends it to a job.
//
// The keys Ctrl-C, Ctrl-\ and Ctrl-Z send their signal to the terminal's foreground group alone,
// and only that group may read. So the command's group gets the terminal while it runs, and we take
// it back when the command ends or stops. The terminal's modes (echo, raw input …) go with it: what
// the command had set when it was stopped is set again when it continues, and meanwhile the
// terminal is as we found it.
//
// Where standard input is no terminal, all of this does nothing.
#pragma once

#include <optional>
#include <sys/types.h>
#include <termios.h>

namespace redlock::coordinator {

class JobTerminal {
 public:
  // Reads the modes as they are now: make it before the command starts.
  JobTerminal();

  bool exists() const { return exists_; }
  // Whether our own group is in the foreground: a job that was started with & must not take the
  // terminal from its shell.
  bool is_ours() const;

  // Gives it to the group, in the modes in which that had it last. REQUIRES: is_ours().
  void lend(pid_t group);
  // launch() has given it already.
  void was_lent() { lent_ = true; }

  enum class Modes { keep, restore };  // restore: as they were at first
  // Does nothing unless lent. Remembers the command's modes for the next lend().
  void take_back(Modes modes);

 private:
  bool exists_;
  bool lent_ = false;
  std::optional<termios> ours_;
  std::optional<termios> the_commands_;
};

}  // namespace redlock::coordinator
