#include "coordinator/link/scripts.h"

#include <array>
#include <string>

#include <catch2/catch.hpp>
#include <sha1.h>

using namespace redlock;
using namespace redlock::coordinator;

namespace {

std::string sha1_of(std::string_view text) {
  std::array<char, SHA1_DIGEST_STRING_LENGTH> digest{};
  SHA1Data(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  return digest.data();
}

}  // namespace

TEST_CASE("the scripts' hashes are those of their texts") {
  CHECK(sha1_of(kReleaseScript.text) == kReleaseScript.sha);
  CHECK(sha1_of(kExtendScript.text) == kExtendScript.sha);
  CHECK(sha1_of(kShortenScript.text) == kShortenScript.sha);
  CHECK(sha1_of(kReplaceScript.text) == kReplaceScript.sha);
  CHECK(sha1_of(kReleasePrefixScript.text) == kReleasePrefixScript.sha);
  CHECK(sha1_of(kTopUpScript.text) == kTopUpScript.sha);
  CHECK(sha1_of(kHolderScript.text) == kHolderScript.sha);
}
