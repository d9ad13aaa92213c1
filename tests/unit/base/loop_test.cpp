#include "base/net/turn/loop.h"

#include "base/net/turn/mailbox.h"

#include <thread>

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::net;

TEST_CASE("a loop runs until nothing is left that could wake it") {
  const auto loop = Loop::make();
  REQUIRE(loop);
  const auto mailbox = Mailbox::make(*loop.value());
  REQUIRE(mailbox);
  int ran = 0;
  std::thread other([&] {
    (*mailbox)->post([&] { ++ran; });
    (*mailbox)->post([&] {
      ++ran;
      (*mailbox)->close();
    });
  });
  (*loop)->run();
  other.join();
  CHECK(ran == 2);
}

TEST_CASE("what is posted to a closed mailbox stays its sender's; what stood in it comes back") {
  Loop loop;
  Mailbox mailbox(loop);
  int ran = 0;
  CHECK(mailbox.post([&] { ran += 1; }));
  CHECK(mailbox.close().size() == 1);
  Mailbox::Task late = [&] { ran += 10; };
  CHECK_FALSE(mailbox.post(std::move(late)));
  loop.run();
  CHECK(ran == 0);
  late();  // NOLINT(bugprone-use-after-move): that it is left alone is the question
  CHECK(ran == 10);
}

TEST_CASE("a task may close its mailbox: those behind it in the same turn run all the same") {
  Loop loop;
  Mailbox mailbox(loop);
  int ran = 0;
  mailbox.post([&] { mailbox.close(); });
  mailbox.post([&] { ++ran; });
  loop.run();
  CHECK(ran == 1);
}
