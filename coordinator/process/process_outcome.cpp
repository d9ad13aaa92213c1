#include "coordinator/process/process_outcome.h"

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

namespace redlock::coordinator {
namespace {

constexpr int kNotExecutable = 126;
constexpr int kNotFound = 127;

}  // namespace

StartFailure start_failure(const std::string& program, int error) {
  if (error == ENOENT) return {kNotFound, fmt::format("{}: not found", program)};
  return {kNotExecutable, fmt::format("{}: cannot be executed: {}", program, std::strerror(error))};
}

}  // namespace redlock::coordinator
