#include <redlock/move_only_function.h>

#include <memory>
#include <string>
#include <type_traits>

#include <catch2/catch.hpp>

using namespace redlock;

namespace {

using Count = MoveOnlyFunction<int(int)>;

int doubled(int number) {
  return 2 * number;
}

static_assert(!std::is_copy_constructible_v<Count>);
static_assert(std::is_nothrow_move_constructible_v<Count>);
static_assert(!std::is_constructible_v<Count, std::string>);
static_assert(!std::is_constructible_v<Count, int (*)(std::string)>);

}  // namespace

TEST_CASE("a function takes over what cannot be copied, and is called as often as it is wanted") {
  Count add = [sum = std::make_unique<int>(0)](int number) { return *sum += number; };
  CHECK(add(1) == 1);
  Count moved = std::move(add);
  CHECK(moved(2) == 3);
  CHECK_FALSE(add);  // NOLINT(bugprone-use-after-move): what it is then is the question
}

TEST_CASE("arguments go through without a copy") {
  MoveOnlyFunction<std::unique_ptr<int>(std::unique_ptr<int>)> through =
      [](std::unique_ptr<int> one) { return one; };
  CHECK(*through(std::make_unique<int>(7)) == 7);
}

TEST_CASE("what is captured ends with the function") {
  const auto seen = std::make_shared<int>(0);
  Count function = [seen](int number) { return number; };
  CHECK(seen.use_count() == 2);
  function = nullptr;
  CHECK(seen.use_count() == 1);
}

TEST_CASE("what is empty makes an empty function") {
  CHECK_FALSE(Count());
  CHECK_FALSE(Count(nullptr));
  CHECK_FALSE(Count(std::function<int(int)>()));
  CHECK_FALSE(Count(static_cast<int (*)(int)>(nullptr)));
  CHECK_FALSE(MoveOnlyFunction<long(int)>(Count()));
  const std::function<int(int)> full = doubled;
  CHECK(Count(full)(2) == 4);
  CHECK(Count(doubled)(2) == 4);
  CHECK(Count([](int number) { return number; })(2) == 2);
}

TEST_CASE("an outcome that nobody wants is dropped") {
  int called = 0;
  MoveOnlyFunction<void()> function = [&] { return ++called; };
  function();
  CHECK(called == 1);
}
