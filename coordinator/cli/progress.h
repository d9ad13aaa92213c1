// How far a drill is, while it runs: a bar on a terminal, drawn again and again in one line; else a
// plain line now and then. Goes to standard output; nothing with --json, where that is for the
// result alone.
#pragma once

#include "base/time.h"

#include <string>
#include <string_view>

namespace redlock::coordinator {

class DrillProgress {
 public:
  DrillProgress(Duration length, bool json);
  ~DrillProgress() { clear(); }
  DrillProgress(const DrillProgress&) = delete;
  DrillProgress& operator=(const DrillProgress&) = delete;

  // As often as one likes. `figures`: the rest of the line.
  void show(Duration passed, std::string_view figures);
  // The bar gives way to what is printed next.
  void clear();

 private:
  void draw(Duration passed, std::string_view figures);

  const Duration length_;
  const bool is_silent_;
  const bool is_terminal_;
  bool is_drawn_ = false;
  Duration next_line_{0};
};

// "[#####     ]", so wide inside.
std::string progress_bar(double share, std::size_t width);

}  // namespace redlock::coordinator
