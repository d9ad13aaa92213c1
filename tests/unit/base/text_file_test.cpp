#include "base/net/text_file.h"

#include "tests/support/temporary_folder.h"

#include <fstream>

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::net;
using Catch::Contains;

TEST_CASE("a text is read whole, with the bytes 0 that are in it") {
  const TemporaryFolder folder;
  const std::string text = "port 7001\n" + std::string(100'000, '\0');
  std::ofstream(folder.path() + "/a.conf", std::ios::binary) << text;
  const auto read = read_text_file(folder.path() + "/a.conf");
  REQUIRE(read);
  CHECK((read.value() == text));  // not to be printed
}

TEST_CASE("a text is written in place of what was there, or it is told why not") {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/report";
  CHECK(write_text_file(path, "a long one"));
  CHECK(write_text_file(path, "short"));
  CHECK(read_text_file(path).value() == "short");
  CHECK(write_text_file(folder.path() + "/none/report", "x").error().text ==
        "No such file or directory");
  CHECK(write_text_file("/dev/full", "x").error().text == "No space left on device");
}

TEST_CASE("what is no text that somebody wrote is refused with the reason") {
  const TemporaryFolder folder;
  CHECK(read_text_file(folder.path()).error().text == "Is a directory");
  CHECK(read_text_file(folder.path() + "/none").error().text == "No such file or directory");
  CHECK_THAT(read_text_file("/dev/zero").error().text, Contains("is it the right file?"));
}
