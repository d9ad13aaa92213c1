// What stands under a key at the nodes when a front door has put it there (rule D1): a header, and
// behind it the client's value, or the packed fields of a hash.
//
//     0          3      4               20        24       32
//     +----------+------+---------------+---------+--------+-----------
//     | 00 72 6C | kind | incarnation   | number  | nonce  | payload …
//     |          | T, H | random        | 0       | random |
//     +----------+------+---------------+---------+--------+-----------
//
// Clients may use a value twice, as "1". A record's bytes never come twice, since each creation
// draws its incarnation anew: so an undo, a release, or a message that comes late hits only what
// it was meant for (rule Q6). The number counts the values that a held lock had.
//
// A value without the header is foreign: a client of the nodes themselves put it there. It is held
// for everybody, and no front door changes it.
//
// Pure: bytes in, bytes out.
#pragma once

#include "server/locks/lock_kind.h"

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace redlock::coordinator {

inline constexpr std::size_t kRecordHeaderBytes = 32;

// Fills all of it with bytes that nobody can guess.
using RandomBytes = std::function<void(std::span<unsigned char>)>;

// Views into the value that it was read from.
struct Record {
  server::LockKind kind = server::LockKind::text;
  std::string_view payload = {};      // what clients see
  std::string_view incarnation = {};  // of a foreign record: the whole value
  bool is_foreign = false;
};

Record read_record(std::string_view value);

// Which creation the value comes from: two values of one key with different ones are two holders.
std::string_view incarnation_of(std::string_view value);

// What no other value of a key has: of a record its header, of a foreign one all of it.
std::string_view unique_part_of(std::string_view value);

// A record that never was before.
std::string new_record(server::LockKind kind, std::string_view payload, const RandomBytes& random);

}  // namespace redlock::coordinator
