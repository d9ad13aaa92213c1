#include "base/net/http/basic_password.h"

#include <string>

#include <catch2/catch.hpp>

using redlock::net::basic_password;

TEST_CASE("the password stands behind the first colon") {
  CHECK(basic_password("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==") == "open sesame");  // RFC 7617 §2
  CHECK(basic_password("Basic dGVzdDoxMjPCow==") == "123\u00a3");                // §2.1
  CHECK(basic_password("basic   OnNlY3JldA==") == "secret");                     // ":secret"
  CHECK(basic_password("BASIC YTpiOmM=") == "b:c");
  CHECK(basic_password("Basic YTo=") == "");
  CHECK(basic_password("Basic Ovv/vz4=") == "\xfb\xff\xbf>");
  CHECK(basic_password("Basic OgAB/v+A") == std::string("\0\1\xfe\xff\x80", 5));
}

TEST_CASE("what is not well formed has no password") {
  for (const char* field : {"", "Basic", "Basic ", "BasicQTpi", "Bearer YTpi", "Basic YTp",
                            "Basic a", "Basic YWI=", "Basic YTpi YTpi", "Basic YTp*",
                            "Basic YTpi====", "Basic =TpiYTpi", "Basic YT=i", "Basic YTpi\n"}) {
    CAPTURE(field);
    CHECK_FALSE(basic_password(field));
  }
}
