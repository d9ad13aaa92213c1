// A text that a person wrote, such as a file of settings, read whole; and one for people, written.
//
//   const auto text = read_text_file("/etc/redlock/a.conf");
//   if (!text) …   // "Is a directory"
#pragma once

#include <redlock/result.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace redlock::net {

// What is longer is no text that somebody wrote: /dev/zero, a log.
inline constexpr std::size_t kTextBytesMax = std::size_t{16} * 1024 * 1024;

// The failure is the reason alone, without the path.
Result<std::string> read_text_file(const std::string& path);
// To its end, as standard input is read.
Result<std::string> read_text(int descriptor);
// In place of what the file had; the failure is the reason alone. Not made durable.
Status write_text_file(const std::string& path, std::string_view text);

}  // namespace redlock::net
