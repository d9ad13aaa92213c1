// What a subcommand says to people, on standard error, and as JSON on standard output.
//
// On a terminal one line may stay below all messages, and be drawn again and again: what is waited
// for. A message is written above it.
//
// `redlock run` must not wait for those who read it (rule H2): a pipe that nobody empties, a
// terminal after Ctrl-S, a log collector that hangs would keep the loop from stopping a command
// whose lock is lost. No test before a write helps, as the command writes to the same pipe between
// test and write; and O_NONBLOCK would be set for the command and the shell as well, who share the
// open file. So another thread writes, and the loop only hands over. What does not fit into its
// queue is dropped.
#pragma once

#include "base/time.h"

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace redlock::coordinator {

// Before a line that is drawn in place of another.
inline constexpr std::string_view kEraseLine = "\r\x1b[K";

enum class MessageStream { output, error };

// Writes it, or hands it over while there are UnblockedMessages. That nobody reads it any more, or
// that the disk is full, is nobody's business here.
void say(MessageStream stream, const std::string& text);

// From now on nothing is said on standard error.
void be_quiet();

// Draws the line that stays below the messages of standard error, in place of the last one; empty:
// there is none. REQUIRES: standard error is a terminal, and the line narrower than it.
void draw_last_line(const std::string& line);

// As long as it lives say() never blocks. One at a time; on the main thread.
class UnblockedMessages {
 public:
  // Of each stream; a report of a failure over many nodes is 4 KiB.
  static constexpr std::size_t kQueueBytesMax = 64 * 1024;
  // How long the end waits for what has been handed over: a reader that lives is faster.
  static constexpr Duration kLastWordsWait = 1s;

  UnblockedMessages();
  ~UnblockedMessages();
  UnblockedMessages(const UnblockedMessages&) = delete;
  UnblockedMessages& operator=(const UnblockedMessages&) = delete;

  // Why say() may block all the same: the system gives no thread. Empty: it never does.
  const std::string& problem() const { return problem_; }

  class Writer;  // one stream's queue and thread

 private:
  std::array<std::shared_ptr<Writer>, 2> writers_;
  std::string problem_;
};

}  // namespace redlock::coordinator
