// KeyNotes: what became of keys, kept until whoever wants to know of it takes it.
//
// The lock table adds to the notes, as it alone sees a key's end where it happens: by a release, by
// a look at a lock that is over, or by the wheel. Five kinds are wanted by four readers:
//
//   given_up   hashes of keys that are free now          Waiters (LOCK.WAIT)
//   taken      hashes of keys that were free until now   Waiters
//   changed    hashes of keys that got a value or a      Watches (WATCH)
//              deadline, or are free now
//   expired    keys whose locks ended by their deadline  KeyspaceEvents
//   touched    keys that were looked for or ended,       a front door's scratch node
//              whether there was such a lock or not
//
// A kind that nobody wants is not kept: then a note costs one branch, and takes no memory.
//
// Thread safety: none.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::server {

class KeyNotes {
 public:
  enum Kind : std::uint8_t {
    given_up = 1u << 0,
    changed = 1u << 1,
    expired = 1u << 2,
    touched = 1u << 3,
    taken = 1u << 4,
  };

  // What was kept of a kind that is wanted no more is dropped.
  void want(Kind kind, bool on) {
    wanted_ = static_cast<std::uint8_t>(on ? wanted_ | kind : wanted_ & ~kind);
    if (!on) drop(kind);
  }
  // Whether anybody wants to know anything.
  bool any_wanted() const { return wanted_ != 0; }
  bool wants(Kind kind) const { return (wanted_ & kind) != 0; }

  // A key got another value or deadline.
  void add_change(std::uint32_t hash) {
    if (wants(changed)) changed_.push_back(hash);
  }
  // A key that was free got a lock.
  void add_take(std::uint32_t hash) {
    if (wants(taken)) taken_.push_back(hash);
  }
  // A key is free now.
  void add_end(std::uint32_t hash) {
    if (wants(given_up)) given_up_.push_back(hash);
    add_change(hash);
  }
  // Its lock ended by its deadline; add_end() is called besides.
  void add_expired(std::string_view key) {
    if (wants(expired)) expired_.emplace_back(key);
  }

  // It was looked for. A key that is looked for many times is noted as often.
  void add_touch(std::string_view key) {
    if (wants(touched)) touched_.emplace_back(key);
  }

  bool has_given_up() const { return !given_up_.empty(); }
  bool has_taken() const { return !taken_.empty(); }
  bool has_changed() const { return !changed_.empty(); }
  bool has_expired() const { return any_wanted() && !expired_.empty(); }
  // Each empties its kind into the vector, whose memory is kept for the next notes.
  void take_given_up(std::vector<std::uint32_t>& hashes) { take(given_up_, hashes); }
  void take_taken(std::vector<std::uint32_t>& hashes) { take(taken_, hashes); }
  void take_changed(std::vector<std::uint32_t>& hashes) { take(changed_, hashes); }
  void take_expired(std::vector<std::string>& keys) { take(expired_, keys); }
  void take_touched(std::vector<std::string>& keys) { take(touched_, keys); }

 private:
  template <class Note>
  static void take(std::vector<Note>& from, std::vector<Note>& to) {
    to.clear();
    to.swap(from);
  }
  void drop(Kind kind) {
    if (kind == given_up) given_up_.clear();
    if (kind == taken) taken_.clear();
    if (kind == changed) changed_.clear();
    if (kind == expired) expired_.clear();
    if (kind == touched) touched_.clear();
  }

  std::uint8_t wanted_ = 0;  // Kinds
  std::vector<std::uint32_t> given_up_;
  std::vector<std::uint32_t> taken_;
  std::vector<std::uint32_t> changed_;
  std::vector<std::string> expired_;
  std::vector<std::string> touched_;
};

}  // namespace redlock::server
