#include "coordinator/cli/progress.h"

#include <catch2/catch.hpp>

using namespace redlock::coordinator;

TEST_CASE("a bar fills from left to right and never beyond its width") {
  CHECK(progress_bar(0, 4) == "[    ]");
  CHECK(progress_bar(0.5, 4) == "[##  ]");
  CHECK(progress_bar(0.99, 4) == "[### ]");
  CHECK(progress_bar(1, 4) == "[####]");
  CHECK(progress_bar(1.3, 4) == "[####]");
}
