#include "base/text/info_text.h"

#include <limits>

#include <catch2/catch.hpp>

namespace redlock {

TEST_CASE("INFO is sections of fields, a blank line apart") {
  InfoText text;
  text.begin("Fencing").field("counter", 7u).field("state", "fenced");
  text.begin("Clock").field("source", "");
  CHECK(text.take() == "# Fencing\r\ncounter:7\r\nstate:fenced\r\n\r\n# Clock\r\nsource:\r\n");
}

TEST_CASE("INFO tells whole numbers of any width") {
  InfoText text;
  text.field("least", std::numeric_limits<std::int64_t>::min());
  text.field("most", std::numeric_limits<std::uint64_t>::max());
  text.field("one", char{1});
  CHECK(text.take() == "least:-9223372036854775808\r\nmost:18446744073709551615\r\none:1\r\n");
}

TEST_CASE("a section that was told elsewhere is added as it is") {
  InfoText text;
  text.add("# Node\r\na:1\r\n").begin("Door").field("b", 2);
  CHECK(text.take() == "# Node\r\na:1\r\n\r\n# Door\r\nb:2\r\n");
}

}  // namespace redlock
