// History files: written by several processes at once, read in one piece.
//
//   auto writer = HistoryWriter::open(path);   // each process its own file, or all of them one
//   writer.value().write(event);
//
// Each event is one write(2) of a whole line to a file opened with O_APPEND, so that lines of
// several processes do not mix, and what a killed process told is there. One that is killed inside
// its write can leave half a line: the reader forgives it at the end of a file alone, so whoever
// may be killed writes a file of its own.
#pragma once

#include "coordinator/drill/history/history.h"

namespace redlock::drill {

// Thread safety: write() from any thread.
class HistoryWriter {
 public:
  // Makes the file if there is none, and adds to it if there is.
  static Result<HistoryWriter> open(const std::string& path);
  ~HistoryWriter();
  HistoryWriter(HistoryWriter&& other) noexcept;
  HistoryWriter& operator=(HistoryWriter&& other) noexcept;

  // Fails when the disk is full, say: then the history is worth nothing, and the caller ends.
  Status write(const HistoryHeader& header) { return append(header_line(header)); }
  Status write(const Event& event) { return append(event_line(event)); }

 private:
  HistoryWriter(std::string path, int file) : path_(std::move(path)), file_(file) {}
  Status append(const std::string& line);

  std::string path_;
  int file_;
};

// Files of one history, see parse_history. "-" is standard input.
Result<History> read_history(const std::vector<std::string>& paths);

}  // namespace redlock::drill
