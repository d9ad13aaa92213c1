#include "protocol/session/access_control.h"

#include <catch2/catch.hpp>

using namespace redlock::protocol;

TEST_CASE("without a password the default user is let in with any, others are not") {
  const AccessControl access;
  CHECK_FALSE(access.is_required());
  CHECK(access.admits("default", "anything"));
  CHECK(access.admits("default", ""));
  CHECK_FALSE(access.admits("alice", "anything"));
}

TEST_CASE("with a password only that password is let in") {
  AccessControl access;
  access.set_password("secret");
  CHECK(access.is_required());
  CHECK(access.admits("default", "secret"));
  for (const char* wrong : {"", "s", "secre", "secret ", "secretsecret", "Secret", "secreT"}) {
    CAPTURE(wrong);
    CHECK_FALSE(access.admits("default", wrong));
  }
  CHECK_FALSE(access.admits("default", std::string_view("secret\0", 7)));
  CHECK_FALSE(access.admits("DEFAULT", "secret"));
  CHECK_FALSE(access.admits("alice", "secret"));
}

TEST_CASE("protected mode refuses others' machines as long as there is no password") {
  AccessControl access;
  CHECK(access.refuses_peer(false));
  CHECK_FALSE(access.refuses_peer(true));
  access.set_password("secret");
  CHECK_FALSE(access.refuses_peer(false));
  access.set_password("");
  access.set_protected_mode(false);
  CHECK_FALSE(access.refuses_peer(false));
}
