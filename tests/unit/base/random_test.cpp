#include "base/random.h"

#include "base/net/process/system_random.h"

#include <array>
#include <set>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

using namespace redlock;

TEST_CASE("the same seed gives the same numbers, another seed others") {
  Random a(7);
  Random b(7);
  Random c(8);
  for (int i = 0; i < 100; ++i) {
    const auto number = a();
    CHECK(number == b());
    CHECK(number != c());
  }
}

TEST_CASE("a number below a bound is below it, and every one comes up") {
  Random random(1);
  bool seen[7] = {};
  for (int i = 0; i < 1000; ++i) {
    const auto number = random.below(7);
    REQUIRE(number < 7);
    seen[number] = true;
  }
  for (const bool came_up : seen) CHECK(came_up);
}

TEST_CASE("a pool hands out no byte of the system's twice, whatever is asked for") {
  net::RandomPool pool;
  std::set<std::string> drawn;
  for (const std::size_t size : {16u, 24u, 2000u, 32u, 2048u, 16u, 5000u, 16u}) {
    std::string bytes(size, '\0');
    for (int i = 0; i < 100; ++i) {
      pool.fill({reinterpret_cast<unsigned char*>(bytes.data()), bytes.size()});
      for (std::size_t at = 0; at + 16 <= size; at += 16) {
        REQUIRE(drawn.insert(bytes.substr(at, 16)).second);
      }
    }
  }
  pool.fill({});
}

TEST_CASE("a forked child draws other bytes of the pool than its parent") {
  net::RandomPool pool;
  std::array<unsigned char, 16> bytes{};
  pool.fill(bytes);
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  if (child == 0) {
    pool.fill(bytes);
    _exit(write(ends[1], bytes.data(), bytes.size()) == ssize_t(bytes.size()) ? 0 : 1);
  }
  REQUIRE(child > 0);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(status == 0);
  std::array<unsigned char, 16> of_child{};
  REQUIRE(read(ends[0], of_child.data(), of_child.size()) == ssize_t(of_child.size()));
  close(ends[0]);
  close(ends[1]);
  pool.fill(bytes);
  CHECK(bytes != of_child);
}
