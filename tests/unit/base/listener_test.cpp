// What a listener does with the file at the path of a unix socket, and with many who come at once.
#include "base/net/sockets/listener.h"

#include "base/net/turn/clock.h"
#include "tests/support/loop_until.h"
#include "tests/support/temporary_folder.h"

#include <cstring>
#include <deque>
#include <fstream>
#include <memory>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <vector>

#include <catch2/catch.hpp>
#include <uv.h>

using namespace redlock;
using namespace redlock::net;
using Catch::Contains;

namespace {

// A socket that is bound to the path, listening or not; its file outlives it.
class RawSocket {
 public:
  explicit RawSocket(const std::string& path, bool listens = true)
      : fd_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    sockaddr_un address = address_of_path(path);
    REQUIRE(bind(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    if (listens) REQUIRE(::listen(fd_, 0) == 0);
  }
  RawSocket(const RawSocket&) = delete;
  RawSocket& operator=(const RawSocket&) = delete;
  ~RawSocket() { close(fd_); }

  static sockaddr_un address_of_path(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    return address;
  }

 private:
  int fd_;
};

class Stranger {
 public:
  explicit Stranger(const std::string& path) {
    const sockaddr_un address = RawSocket::address_of_path(path);
    REQUIRE(connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  }
  Stranger(const Stranger&) = delete;
  Stranger& operator=(const Stranger&) = delete;
  ~Stranger() { close(fd_); }

 private:
  int fd_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
};

mode_t mode_of(const std::string& path) {
  struct stat status {};
  REQUIRE(lstat(path.c_str(), &status) == 0);
  return status.st_mode;
}

std::string listen_error(const std::string& path, mode_t mode = 0) {
  Loop loop;
  return Listener::listen(
             loop, {path, 0}, 8, [](auto) {}, mode)
      .error()
      .text;
}

}  // namespace

TEST_CASE("a file that is no socket stays, and the start is refused") {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/s";
  SECTION("a file") {
    std::ofstream(path) << "precious";
    CHECK_THAT(listen_error(path), Contains(path) && Contains("is no socket"));
    CHECK(S_ISREG(mode_of(path)));
  }
  SECTION("a link to a dead socket") {
    { RawSocket dead(folder.path() + "/dead"); }
    REQUIRE(symlink((folder.path() + "/dead").c_str(), path.c_str()) == 0);
    CHECK_THAT(listen_error(path), Contains("is no socket"));
    CHECK(S_ISLNK(mode_of(path)));
  }
}

TEST_CASE("a socket is replaced only when nobody listens at it") {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/s";
  SECTION("of a process that was killed") {
    { RawSocket dead(path); }
    CHECK(listen_error(path).empty());
  }
  SECTION("of one that listens") {
    const RawSocket listening(path);
    CHECK_THAT(listen_error(path), Contains("address already in use"));
    CHECK(S_ISSOCK(mode_of(path)));
  }
  SECTION("of one that listens, and whose backlog is full") {
    const RawSocket listening(path);
    const sockaddr_un address = RawSocket::address_of_path(path);
    const int waiting = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    REQUIRE(connect(waiting, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    CHECK_THAT(listen_error(path), Contains("address already in use"));
    CHECK(S_ISSOCK(mode_of(path)));
    close(waiting);
  }
}

TEST_CASE("a path that would be cut is refused, and the longest that fits is taken") {
  const TemporaryFolder folder;
  const std::string fits =
      folder.path() + "/" + std::string(kUnixPathBytesMax - folder.path().size() - 1, 's');
  CHECK_THAT(listen_error(fits + "s"), Contains("at most 107 bytes"));
  Loop loop;
  const auto listener = Listener::listen(
      loop, {fits, 0}, 8, [](auto) {}, 0600);
  REQUIRE(listener);
  CHECK((mode_of(fits) & 0777) == 0600);
}

TEST_CASE("of many who connect at once each turn takes a few, and all have theirs") {
  constexpr int kStrangers = 50;
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/socket";
  Loop loop;
  std::vector<std::unique_ptr<Stream>> served;
  auto listener = Listener::listen(loop, {path, 0}, 64, [&](std::unique_ptr<Stream> stream) {
                    served.push_back(std::move(stream));
                    const Instant began = read_clock(ClockKind::monotonic);
                    while (read_clock(ClockKind::monotonic) - began < 1ms) continue;
                  }).value();
  std::deque<Stranger> strangers;
  for (int i = 0; i < kStrangers; ++i) strangers.emplace_back(path);
  uv_run(loop.raw(), UV_RUN_NOWAIT);
  CHECK(served.size() >= 1);
  CHECK(served.size() <= 3);
  CHECK(run_loop_until(
      loop, [&] { return served.size() == kStrangers; }, 10s));
  for (int i = 0; i < 5; ++i) strangers.emplace_back(path);
  uv_run(loop.raw(), UV_RUN_NOWAIT);
  listener.reset();  // one stands in the line, and nobody minds
  const std::size_t before = served.size();
  uv_run(loop.raw(), UV_RUN_NOWAIT);
  uv_run(loop.raw(), UV_RUN_NOWAIT);
  CHECK(served.size() == before);
}
