// What stands under a key at the nodes when a front door has put it there (rule D1): a header, and
// behind it the client's value, or the packed fields of a hash.
//
//     0          3      4               20        24       32
//     +----------+------+---------------+---------+--------+-----------
//     | 00 72 6C | kind | incarnation   | number  | nonce  | payload …
//     |          | T H h| random        | from 0  | random |
//     +----------+------+---------------+---------+--------+-----------
//
// Clients may use a value twice, as "1". A record's bytes never come twice, since each creation
// draws its incarnation anew: so an undo, a release, or a message that comes late hits only what
// it was meant for (rule Q6). The number, its highest byte first, counts the values that a held
// lock had; each has a nonce of its own (rule D9). h is a hash that is no longer of whom the lock
// was given to: it has other fields.
//
// A value without the header is foreign: a client of the nodes themselves put it there. It is held
// for everybody, and no front door changes it.
//
// Pure: bytes in, bytes out.
#pragma once

#include "coordinator/quorum/quorum_read.h"
#include "server/locks/lock_kind.h"

#include <cstddef>
#include <cstdint>
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
  std::uint32_t number = 0;           // how many values the lock had before this one
  bool is_foreign = false;
  // Whoever has it now was not given its token and label: another text stands in place of the
  // first, or the hash has got other fields.
  bool has_changed_hands = false;
};

Record read_record(std::string_view value);

// A value's incarnation and number. Values of one key with different incarnations are of two
// holders, whatever clients see.
HeldBy held_by(std::string_view value);

// What no other value of a key has: of a record its header, of a foreign one all of it.
std::string_view unique_part_of(std::string_view value);

// What all values of one lock begin with, as long as it is text, or a hash. Of a foreign one all.
std::string_view lock_prefix(std::string_view value);

// The same of a lock as a number: the first bytes of its incarnation.
std::uint64_t lock_number(std::string_view value);

// A record that never was before.
std::string new_record(server::LockKind kind, std::string_view payload, const RandomBytes& random);

// The next value of the lock that has this one. REQUIRES: it is not foreign, and has_next_record().
std::string next_record(std::string_view value, server::LockKind kind, std::string_view payload,
                        const RandomBytes& random);
// Numbers do not wrap: a lock has 2^32 values at most.
bool has_next_record(std::string_view value);

}  // namespace redlock::coordinator
