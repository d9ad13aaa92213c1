#include "coordinator/drill/verdict.h"

#include "base/net/text_file.h"
#include "coordinator/drill/history/check_report.h"
#include "coordinator/drill/world/history_file.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <unistd.h>

#include <fmt/format.h>

namespace redlock::drill {
namespace {

namespace fs = std::filesystem;

Status write_file(const std::string& path, const std::string& text) {
  const Status written = net::write_text_file(path, text);
  if (written) return Done{};
  return Failure{fmt::format("{} cannot be written: {}", path, written.error().text)};
}

// By time, so that people can read it too.
std::string text_of(const History& history) {
  std::string text = header_line(history.header);
  for (const Event& event : history.events) text += event_line(event);
  return text;
}

}  // namespace

Status make_result_folder(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return Failure{fmt::format("{} cannot be made: {}", folder, error.message())};
  if (access(folder.c_str(), W_OK | X_OK) == 0) return Done{};
  return Failure{fmt::format("{} cannot be written to: {}; --out names another folder", folder,
                             std::strerror(errno))};
}

// What is judged is the file that stays: its lines are named.
Result<Verdict> judge(const std::vector<std::string>& files, const std::string& folder, bool json,
                      const Look& look) {
  const auto parts = read_history(files);
  if (!parts) return parts.error();
  const std::string file = folder + "/history.jsonl";
  if (auto written = write_file(file, text_of(parts.value())); !written) return written.error();
  auto history = read_history({file});
  if (!history) return history.error();
  history.value().unfinished_lines = parts.value().unfinished_lines;
  const Story story = tell(history.value());
  const Report report = check(history.value(), story);
  Shown shown = look ? look(history.value()) : Shown();
  const std::string html = timeline_html(history.value(), story, report, shown);
  if (auto drawn = write_file(folder + "/timeline.html", html); !drawn) return drawn.error();
  const auto text = json ? report_json : report_text;
  return Verdict{report.is_clean(), text(history.value(), story, report), std::move(shown)};
}

}  // namespace redlock::drill
