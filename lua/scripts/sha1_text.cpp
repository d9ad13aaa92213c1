#include "lua/scripts/sha1_text.h"

#include <cstdint>
#include <sys/types.h>

#include <sha1.h>

namespace redlock::lua {

std::string sha1_text(std::string_view bytes) {
  char digits[SHA1_DIGEST_STRING_LENGTH];
  SHA1Data(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size(), digits);
  return std::string(digits, kSha1Digits);
}

}  // namespace redlock::lua
