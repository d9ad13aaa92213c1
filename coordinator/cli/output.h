// What a subcommand prints: standard output.
//
// Nothing here throws, as fmt::print does, where the disk is full or nobody reads any more. main()
// ends with exit_code::kOutput then; who prints what must not be lost asks at once.
#pragma once

#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace redlock::coordinator {

void print_text(std::string_view text);

template <class... Args>
void print_out(fmt::format_string<Args...> format, Args&&... args) {
  print_text(fmt::format(format, std::forward<Args>(args)...));
}

// Whether all that was printed so far has been written.
bool flush_output();

// What the program ends with: of one that went as told and whose output is lost, kOutput, and why
// is said; but whoever has closed the other end of a pipe wants no more, and knows it.
int exit_code_after_output(int exit_code);

}  // namespace redlock::coordinator
