#include <redlock/result.h>

#include <memory>
#include <string>

#include <catch2/catch.hpp>

using namespace redlock;

namespace {

struct Code {
  int number = 0;
  std::string text = {};
};

}  // namespace

TEST_CASE("a result is used as std::expected is") {
  Result<std::string, Code> good(std::string("value"));
  CHECK(good);
  CHECK(good.has_value());
  CHECK(*good == "value");
  CHECK(good->size() == 5);
  CHECK(good.value() == "value");
  CHECK(good.value_or("other") == "value");
  CHECK(good.error().text.empty());

  const Result<std::string, Code> bad(Code{7, "why"});
  CHECK_FALSE(bad);
  CHECK_FALSE(bad.has_value());
  CHECK(bad.value_or("other") == "other");
  CHECK(bad.error().number == 7);
  CHECK(bad.error().text == "why");
}

TEST_CASE("a result may hold what can only be moved") {
  Result<std::unique_ptr<int>> made(std::make_unique<int>(3));
  CHECK(**made == 3);
  const std::unique_ptr<int> taken = *std::move(made);
  CHECK(*taken == 3);
  Result<std::unique_ptr<int>> none(Failure{"none"});
  CHECK(*std::move(none).value_or(std::make_unique<int>(4)) == 4);
}
