// The same client as C sees it: redlock.h.
#include "tests/unit/coordinator/client/comes.h"
#include "tests/unit/coordinator/client/five_nodes.h"
#include <redlock/redlock.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <future>
#include <memory>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <catch2/catch.hpp>

using namespace redlock;
using namespace std::chrono_literals;

namespace {

struct Close {
  void operator()(redlock_client* client) const { redlock_close(client); }
};
struct Free {
  void operator()(redlock_lock* lock) const { redlock_free(lock); }
};
using CClient = std::unique_ptr<redlock_client, Close>;
using CLock = std::unique_ptr<redlock_lock, Free>;

CClient open_at(const FiveNodes& nodes) {
  std::string list;
  for (const std::string& node : nodes.options().nodes) list += (list.empty() ? "" : ",") + node;
  redlock_client* client = nullptr;
  REQUIRE(redlock_open(list.c_str(), nullptr, &client, nullptr) == REDLOCK_OK);
  return CClient(client);
}

redlock_acquire_options lasting(std::int64_t ttl_ms) {
  return {.ttl_ms = ttl_ms, .wait_ms = 0, .without_token = false};
}

redlock_acquire_options waiting(std::int64_t wait_ms) {
  return {.ttl_ms = 0, .wait_ms = wait_ms, .without_token = false};
}

redlock_code acquire(const CClient& client, CLock& lock, redlock_acquire_options options = {},
                     redlock_error* error = nullptr) {
  redlock_lock* got = nullptr;
  const redlock_code code = redlock_acquire(client.get(), "printer", &options, &got, error);
  lock.reset(got);
  return code;
}

CLock acquired(const CClient& client, redlock_acquire_options options = {}) {
  CLock lock;
  REQUIRE(acquire(client, lock, options) == REDLOCK_OK);
  return lock;
}

// What a loss told, and what the callback does then.
struct Loss {
  std::atomic<int> times = 0;
  redlock_code code = REDLOCK_OK;
  std::string text;
  redlock_lock* asks = nullptr;
  redlock_code answer = REDLOCK_OK;

  static void tell(void* context, const redlock_error* why) {
    auto* self = static_cast<Loss*>(context);
    self->code = why->code;
    self->text = why->text;
    if (self->asks != nullptr) self->answer = redlock_release(self->asks, nullptr);
    ++self->times;
  }
  redlock_keep_options options() {
    return {.ttl_ms = 300, .notice_ms = 0, .on_loss = tell, .context = this};
  }
};

}  // namespace

TEST_CASE("C: a lock is granted to the first, refused to the second, and released") {
  const FiveNodes nodes;
  const CClient client = open_at(nodes);
  const CLock lock = acquired(client, lasting(20000));
  CHECK(redlock_valid(lock.get()));
  CHECK(redlock_validity_left_ms(lock.get()) > 10000);
  CHECK(redlock_validity_left_ms(lock.get()) <= 20000);
  CHECK(redlock_name(lock.get()) == std::string("printer"));
  CHECK(std::strlen(redlock_value(lock.get())) > 10);
  CHECK(redlock_token(lock.get()) > 0);

  redlock_error error;
  CLock second;
  CHECK(acquire(client, second, {}, &error) == REDLOCK_HELD);
  CHECK_FALSE(second);
  CHECK(error.code == REDLOCK_HELD);
  CHECK(std::string(error.text).find("\n  127.0.0.1:") != std::string::npos);

  CHECK(redlock_release(lock.get(), &error) == REDLOCK_OK);
  CHECK(std::string(error.text).empty());
  CHECK_FALSE(redlock_valid(lock.get()));
  CHECK(redlock_release(lock.get(), nullptr) == REDLOCK_NOT_HELD);
  CHECK(redlock_extend(lock.get(), nullptr) == REDLOCK_NOT_HELD);
  CHECK(redlock_keep(lock.get(), nullptr, nullptr) == REDLOCK_NOT_HELD);
  CHECK(acquire(client, second, waiting(10000)) == REDLOCK_OK);
  CHECK(redlock_token(second.get()) > redlock_token(lock.get()));
}

TEST_CASE("C: a lock of which name and value are known is valid once it was extended") {
  const FiveNodes nodes;
  const CClient client = open_at(nodes);
  const CLock first = acquired(client, lasting(20000));
  redlock_lock* other = nullptr;
  REQUIRE(redlock_of(client.get(), "printer", redlock_value(first.get()), 20000, &other, nullptr) ==
          REDLOCK_OK);
  const CLock second(other);
  CHECK_FALSE(redlock_valid(other));
  CHECK(redlock_validity_left_ms(other) == 0);
  redlock_abandon(first.get());
  CHECK_FALSE(redlock_valid(first.get()));
  CHECK(redlock_extend(other, nullptr) == REDLOCK_OK);
  CHECK(redlock_valid(other));
  CHECK(redlock_release(other, nullptr) == REDLOCK_OK);
}

TEST_CASE("C: a lock is kept beyond its TTL, and its end lets it go") {
  const FiveNodes nodes;
  const CClient client = open_at(nodes);
  CLock lock = acquired(client, lasting(300));
  Loss loss;
  const redlock_keep_options options = loss.options();
  REQUIRE(redlock_keep(lock.get(), &options, nullptr) == REDLOCK_OK);
  CHECK(redlock_extend(lock.get(), nullptr) == REDLOCK_INVALID);
  CHECK(redlock_keep(lock.get(), nullptr, nullptr) == REDLOCK_INVALID);
  std::this_thread::sleep_for(600ms);
  CHECK(redlock_valid(lock.get()));
  lock.reset();
  CHECK(acquire(client, lock, waiting(10000)) == REDLOCK_OK);
  CHECK(loss.times == 0);
}

TEST_CASE("C: a loss is told once, and a blocking call in the callback is refused") {
  FiveNodes nodes;
  const CClient client = open_at(nodes);
  const CLock lock = acquired(client, lasting(3000));
  Loss loss;
  loss.asks = lock.get();
  const redlock_keep_options options = loss.options();
  REQUIRE(redlock_keep(lock.get(), &options, nullptr) == REDLOCK_OK);
  nodes.crash({0, 1, 2});
  REQUIRE(comes([&] { return loss.times > 0; }));
  CHECK_FALSE(redlock_valid(lock.get()));
  CHECK(loss.times == 1);
  CHECK(loss.code == REDLOCK_LOST);
  CHECK(loss.text.find("the lock was lost") == 0);
  CHECK(loss.answer == REDLOCK_WRONG_THREAD);
  CHECK(redlock_release(lock.get(), nullptr) == REDLOCK_NO_QUORUM);
  CHECK(redlock_release(lock.get(), nullptr) == REDLOCK_NO_QUORUM);  // it may be tried again
}

TEST_CASE("C: a client may be closed in its callback, and before its locks") {
  FiveNodes nodes;
  struct Both {
    CClient client;
    CLock lock;
    std::promise<void> closed;
  } both{open_at(nodes), {}, {}};
  both.lock = acquired(both.client, lasting(300));
  const auto close = [](void* context, const redlock_error*) {
    auto* all = static_cast<Both*>(context);
    all->lock.reset();
    all->client.reset();
    all->closed.set_value();
  };
  const redlock_keep_options options{
      .ttl_ms = 0, .notice_ms = 0, .on_loss = close, .context = &both};
  REQUIRE(redlock_keep(both.lock.get(), &options, nullptr) == REDLOCK_OK);
  nodes.crash({0, 1, 2});
  CHECK(both.closed.get_future().wait_for(kSoon) == std::future_status::ready);
}

TEST_CASE("C: closing ends what waits, releases what is kept, and the locks know it") {
  const FiveNodes nodes;
  const CClient other = open_at(nodes);
  CClient client = open_at(nodes);
  const CLock kept = acquired(client, lasting(20000));
  REQUIRE(redlock_keep(kept.get(), nullptr, nullptr) == REDLOCK_OK);
  auto acquisition = std::async(std::launch::async, [raw = client.get()] {
    redlock_lock* lock = nullptr;
    const redlock_acquire_options options = waiting(REDLOCK_FOREVER);
    return redlock_acquire(raw, "printer", &options, &lock, nullptr);
  });
  std::this_thread::sleep_for(100ms);
  client.reset();
  CHECK(acquisition.get() == REDLOCK_STOPPED);
  CHECK_FALSE(redlock_valid(kept.get()));
  CHECK(redlock_release(kept.get(), nullptr) == REDLOCK_STOPPED);
  CLock next;
  CHECK(acquire(other, next, waiting(10000)) == REDLOCK_OK);
}

TEST_CASE("C: every node says of itself what it knows") {
  FiveNodes nodes;
  const CClient client = open_at(nodes);
  nodes.crash({4});
  redlock_nodes* all = nullptr;
  REQUIRE(redlock_status(client.get(), &all, nullptr) == REDLOCK_OK);
  REQUIRE(all->count == 5);
  CHECK(all->nodes[0].state == std::string("serving"));
  CHECK(all->nodes[0].grants);
  CHECK(all->nodes[0].locks == 0);
  CHECK_FALSE(all->nodes[4].answered);
  CHECK(all->nodes[4].locks == -1);
  redlock_nodes_free(all);
}

TEST_CASE("C: what is missing or out of bounds is an error, and ends nothing") {
  redlock_error error;
  redlock_client* client = nullptr;
  redlock_lock* lock = nullptr;
  redlock_nodes* all = nullptr;
  CHECK(redlock_open("redis://a:0:b", nullptr, &client, &error) == REDLOCK_INVALID);
  CHECK(std::strlen(error.text) > 0);
  CHECK(redlock_open(nullptr, nullptr, &client, &error) == REDLOCK_INVALID);
  CHECK(redlock_open("redis://a", nullptr, nullptr, &error) == REDLOCK_INVALID);
  redlock_client_options drifting{};
  drifting.clock_drift = 0.6;
  CHECK(redlock_open("redis://a", &drifting, &client, &error) == REDLOCK_INVALID);
  CHECK(client == nullptr);
  CHECK(redlock_acquire(nullptr, "printer", nullptr, &lock, &error) == REDLOCK_INVALID);
  CHECK(redlock_status(nullptr, &all, &error) == REDLOCK_INVALID);
  CHECK(redlock_extend(nullptr, &error) == REDLOCK_INVALID);
  CHECK(redlock_keep(nullptr, nullptr, &error) == REDLOCK_INVALID);
  CHECK(redlock_release(nullptr, &error) == REDLOCK_INVALID);
  CHECK_FALSE(redlock_valid(nullptr));
  CHECK(redlock_validity_left_ms(nullptr) == 0);
  CHECK(redlock_value(nullptr) == std::string());
  redlock_abandon(nullptr);
  redlock_free(nullptr);
  redlock_close(nullptr);
  redlock_nodes_free(nullptr);

  REQUIRE(redlock_open("redis://127.0.0.1:1", nullptr, &client, &error) == REDLOCK_OK);
  const CClient closed(client);
  CHECK(redlock_acquire(client, nullptr, nullptr, &lock, &error) == REDLOCK_INVALID);
  CHECK(redlock_acquire(client, "", nullptr, &lock, &error) == REDLOCK_INVALID);
  const redlock_acquire_options negative = lasting(-5);
  CHECK(redlock_acquire(client, "printer", &negative, &lock, &error) == REDLOCK_INVALID);
  const redlock_acquire_options backwards = waiting(INT64_MIN);
  CHECK(redlock_acquire(client, "printer", &backwards, &lock, &error) == REDLOCK_INVALID);
  CHECK(redlock_of(client, "printer", "", 0, &lock, &error) == REDLOCK_INVALID);
  CHECK(lock == nullptr);
}

TEST_CASE("C: a long text is cut between two characters") {
  std::string nodes = "redis://";
  while (nodes.size() < 2 * REDLOCK_TEXT_BYTES) nodes += "ä";
  redlock_error error;
  redlock_client* client = nullptr;
  REQUIRE(redlock_open(nodes.c_str(), nullptr, &client, &error) == REDLOCK_INVALID);
  CHECK(std::strlen(error.text) < REDLOCK_TEXT_BYTES);
}

TEST_CASE("C: every code has a name") {
  CHECK(redlock_code_name(REDLOCK_OK) == std::string("ok"));
  CHECK(redlock_code_name(REDLOCK_NO_QUORUM) == std::string("no quorum"));
  for (int code = REDLOCK_OK; code <= REDLOCK_NO_MEMORY; ++code) {
    CHECK(redlock_code_name(static_cast<redlock_code>(code)) != std::string("unknown"));
  }
  CHECK(redlock_code_name(REDLOCK_OTHER_GROUP) == std::string("other group"));
}

TEST_CASE("C: in a forked child the locks are the parent's") {
  const FiveNodes nodes;
  CClient client = open_at(nodes);
  CLock kept = acquired(client, lasting(20000));
  REQUIRE(redlock_keep(kept.get(), nullptr, nullptr) == REDLOCK_OK);
  const pid_t child = fork();
  if (child == 0) {
    CLock another;
    const bool is_left_alone = !redlock_valid(kept.get()) &&
                               redlock_release(kept.get(), nullptr) == REDLOCK_STOPPED &&
                               acquire(client, another) == REDLOCK_STOPPED;
    kept.reset();
    client.reset();
    _exit(is_left_alone ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(status == 0);
  CHECK(redlock_valid(kept.get()));
  CHECK(redlock_release(kept.get(), nullptr) == REDLOCK_OK);
}
