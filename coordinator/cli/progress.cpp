#include "coordinator/cli/progress.h"

#include "base/text/duration_text.h"
#include "coordinator/cli/messages.h"
#include "coordinator/cli/output.h"

#include <algorithm>
#include <sys/ioctl.h>
#include <unistd.h>

#include <fmt/format.h>

namespace redlock::coordinator {
namespace {

constexpr std::size_t kBarWidth = 24;
constexpr std::size_t kColumnsIfUnknown = 80;
constexpr Duration kLineEvery = 10s;

void print(const std::string& text) {
  print_text(text);
  flush_output();
}

std::size_t columns() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kColumnsIfUnknown;
  return size.ws_col;
}

std::string whole_seconds(Duration d) {
  return d < 1s ? "0s" : duration_text(std::chrono::floor<std::chrono::seconds>(d));
}

}  // namespace

std::string progress_bar(double share, std::size_t width) {
  const double filled = std::clamp(share, 0.0, 1.0) * static_cast<double>(width);
  const auto count = static_cast<std::size_t>(filled);
  return fmt::format("[{:<{}}]", std::string(count, '#'), width);
}

DrillProgress::DrillProgress(Duration length, bool json)
    : length_(length),
      is_silent_(json),
      is_terminal_(isatty(STDOUT_FILENO) != 0),
      next_line_(std::min(kLineEvery, length)) {}

void DrillProgress::show(Duration passed, std::string_view figures) {
  if (is_silent_) return;
  if (is_terminal_) return draw(passed, figures);
  if (passed < next_line_) return;
  next_line_ += kLineEvery;
  print(fmt::format("{} of {}: {}\n", whole_seconds(passed), duration_text(length_), figures));
}

// Never wider than the terminal: a line that wraps cannot be drawn over.
void DrillProgress::draw(Duration passed, std::string_view figures) {
  const double share = static_cast<double>(passed.count()) / static_cast<double>(length_.count());
  std::string line = fmt::format("{} {} of {}  {}", progress_bar(share, kBarWidth),
                                 whole_seconds(passed), duration_text(length_), figures);
  if (line.size() >= columns()) line.resize(columns() - 1);
  print(std::string(kEraseLine) + line);
  is_drawn_ = true;
}

void DrillProgress::clear() {
  if (is_drawn_) print(std::string(kEraseLine));
  is_drawn_ = false;
}

}  // namespace redlock::coordinator
