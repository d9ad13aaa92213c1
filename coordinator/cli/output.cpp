#include "coordinator/cli/output.h"

#include "coordinator/cli/exit_code.h"
#include "coordinator/cli/messages.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace redlock::coordinator {
namespace {

int first_problem = 0;  // errno

void note(bool is_written) {
  if (!is_written && first_problem == 0) first_problem = errno;
}

}  // namespace

void print_text(std::string_view text) {
  note(std::fwrite(text.data(), 1, text.size(), stdout) == text.size());
}

bool flush_output() {
  note(std::fflush(stdout) == 0);
  return first_problem == 0;
}

int exit_code_after_output(int exit_code) {
  if (flush_output() || exit_code != exit_code::kDone) return exit_code;
  if (first_problem != EPIPE) {
    complain(
        fmt::format("standard output: {}: not all could be printed", std::strerror(first_problem)));
  }
  return exit_code::kOutput;
}

}  // namespace redlock::coordinator
