#include "coordinator/process/process_outcome.h"

#include "base/text/printable.h"

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

namespace redlock::coordinator {
namespace {

constexpr int kNotExecutable = 126;
constexpr int kNotFound = 127;

}  // namespace

StartFailure start_failure(const std::string& program, int error) {
  const std::string shown = printable(program);
  if (error == ENOENT) return {kNotFound, fmt::format("{}: not found", shown)};
  return {kNotExecutable, fmt::format("{}: cannot be executed: {}", shown, std::strerror(error))};
}

}  // namespace redlock::coordinator
