#include "coordinator/drill/world/store_link.h"

#include "base/text/number.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

namespace redlock::drill {
namespace {

Failure failure(std::string_view what) {
  return {fmt::format("the store {}: {}", what, std::strerror(errno))};
}

}  // namespace

std::string line_of(const StoreWrite& write) {
  return fmt::format("{}\t{}\t{}\t{}\n", write.client, write.hold, write.lock, write.token);
}

std::optional<StoreWrite> parse_store_write(std::string_view line) {
  std::array<std::string_view, 3> words;
  for (std::string_view& word : words) {
    const std::size_t tab = line.find('\t');
    if (tab == std::string_view::npos) return std::nullopt;
    word = line.substr(0, tab);
    line.remove_prefix(tab + 1);
  }
  const auto token = parse_int64(line);
  if (!token || *token < 0) return std::nullopt;
  return StoreWrite{std::string(words[0]), std::string(words[1]), std::string(words[2]),
                    static_cast<std::uint64_t>(*token)};
}

Result<StoreLink> StoreLink::connect(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return Failure{"the store's path is too long"};
  path.copy(address.sun_path, path.size());
  StoreLink link(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const auto* raw = reinterpret_cast<const sockaddr*>(&address);
  if (link.socket_ < 0 || ::connect(link.socket_, raw, sizeof address) != 0) {
    return failure("cannot be reached");
  }
  return link;
}

StoreLink::~StoreLink() {
  if (socket_ >= 0) close(socket_);
}

StoreLink::StoreLink(StoreLink&& other) noexcept : socket_(std::exchange(other.socket_, -1)) {}

// One write is under way at a time, so the answer is all that can come. A line is short: the socket
// takes it whole.
Result<bool> StoreLink::write(const StoreWrite& write) {
  const std::string line = line_of(write);
  ssize_t sent = 0;
  do {
    sent = ::send(socket_, line.data(), line.size(), MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  if (sent != static_cast<ssize_t>(line.size())) return failure("took no write");
  std::string answer;
  while (!answer.ends_with('\n')) {
    char byte = 0;
    const ssize_t got = ::read(socket_, &byte, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got != 1) return failure("gave no answer");
    answer += byte;
  }
  return answer == "1\n";
}

}  // namespace redlock::drill
