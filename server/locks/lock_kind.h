// What a key holds: LockKind. Apart from lock.h for those who keep locks elsewhere (snapshot.h).
#pragma once

#include <cstdint>
#include <string_view>

namespace redlock::server {

enum class LockKind : std::uint8_t {
  text,  // what a lock mostly is: its holder's value
  hash,  // fields with values: HSET and its family
};

// As TYPE and SCAN name it.
constexpr std::string_view kind_name(LockKind kind) {
  return kind == LockKind::hash ? "hash" : "string";
}

}  // namespace redlock::server
