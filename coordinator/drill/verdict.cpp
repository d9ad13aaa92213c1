#include "coordinator/drill/verdict.h"

#include "coordinator/drill/history_file.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <unistd.h>

#include <fmt/format.h>

namespace redlock::coordinator {
namespace {

namespace fs = std::filesystem;

Status write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::trunc);
  file << text;
  file.close();
  if (file) return Done{};
  return Failure{fmt::format("{} cannot be written: {}", path, std::strerror(errno))};
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

Result<Verdict> judge(const std::vector<std::string>& files, const std::string& folder, bool) {
  const auto history = read_history(files);
  if (!history) return history.failure();
  const std::string file = folder + "/history.jsonl";
  if (auto written = write_file(file, text_of(history.value())); !written) {
    return written.failure();
  }
  return Verdict{true, fmt::format("{} events in {}", history.value().events.size(), file)};
}

}  // namespace redlock::coordinator
