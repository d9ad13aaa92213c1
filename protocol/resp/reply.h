// Reply: the answer to one request, as a value.
//
// Commands return it, scripts get it from redis.call, the writer turns it into RESP2 or RESP3
// bytes, the parser makes it from such bytes. Shapes are RESP3's
// (https://github.com/redis/redis-specifications/blob/master/protocol/RESP3.md); the writer steps
// down to RESP2.
//
// Small answers (a status, an integer, a view of a stored value) allocate nothing. Text is either
// owned or a view: a view made with `*_view` stays valid as long as what it looks at, for a stored
// value until the next command changes the table. Whoever keeps a reply longer takes `owned()`.
//
// Movable, not copyable: a copy of a large answer should be visible (`owned()`).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redlock::protocol {

class Reply {
 public:
  enum class Kind : std::uint8_t {
    none,        // nothing is sent: CLIENT REPLY OFF
    later,       // not yet known: the session waits for it (a script that was suspended)
    postponed,   // nothing was done yet: the session keeps the request and asks again
    too_large,   // more than kReplyMemoryMax, of which nothing was kept: the session is cut off
    status,      // +OK
    error,       // -ERR text; the text holds the code, not the '-'
    integer,     // :1
    bulk,        // $3
    null,        // RESP2 $-1, RESP3 _
    null_array,  // RESP2 *-1, RESP3 _
    boolean,     // RESP3 #t, RESP2 :1
    real,        // RESP3 ,1.5 RESP2 a bulk
    big_number,  // RESP3 (123, RESP2 a bulk
    verbatim,    // RESP3 =7\r\ntxt:abc, RESP2 a bulk; the text excludes "txt:"
    array,       // *2
    set,         // RESP3 ~2, RESP2 *2
    map,         // RESP3 %1, RESP2 *2; items() holds key, value, key, value …
    push,        // RESP3 >2, RESP2 *2
    sequence,    // its items one after the other, with nothing before them: SUBSCRIBE's answers
  };

  Reply() = default;
  Reply(Reply&&) noexcept = default;
  Reply& operator=(Reply&&) noexcept = default;

  static Reply none() { return Reply(); }
  static Reply later() { return Reply(Kind::later); }
  static Reply postponed() { return Reply(Kind::postponed); }
  static Reply too_large() { return Reply(Kind::too_large); }
  static Reply ok() { return status_view("OK"); }
  static Reply status(std::string text) { return Reply(Kind::status, std::move(text)); }
  static Reply status_view(std::string_view text) { return Reply(Kind::status, text); }
  static Reply error(std::string text) { return Reply(Kind::error, std::move(text)); }
  static Reply error_view(std::string_view text) { return Reply(Kind::error, text); }
  static Reply integer(std::int64_t number) { return Reply(Kind::integer, number); }
  static Reply bulk(std::string text) { return Reply(Kind::bulk, std::move(text)); }
  static Reply bulk_view(std::string_view text) { return Reply(Kind::bulk, text); }
  static Reply null() { return Reply(Kind::null); }
  static Reply null_array() { return Reply(Kind::null_array); }
  static Reply boolean(bool value) { return Reply(Kind::boolean, value ? 1 : 0); }
  static Reply real(double value);
  static Reply big_number(std::string digits) { return Reply(Kind::big_number, std::move(digits)); }
  static Reply verbatim(std::string text) { return Reply(Kind::verbatim, std::move(text)); }
  static Reply array(std::vector<Reply> items = {}) { return Reply(Kind::array, std::move(items)); }
  static Reply set(std::vector<Reply> items) { return Reply(Kind::set, std::move(items)); }
  static Reply map(std::vector<Reply> items) { return Reply(Kind::map, std::move(items)); }
  static Reply push(std::vector<Reply> items) { return Reply(Kind::push, std::move(items)); }
  static Reply sequence() { return Reply(Kind::sequence); }

  Kind kind() const { return kind_; }
  bool is(Kind kind) const { return kind_ == kind; }
  bool is_error() const { return kind_ == Kind::error; }
  bool is_null() const { return kind_ == Kind::null || kind_ == Kind::null_array; }
  bool is_aggregate() const { return kind_ >= Kind::array; }

  // integer and boolean (0 or 1); 0 otherwise.
  std::int64_t integer() const { return is(Kind::real) || is_aggregate() ? 0 : number_; }
  // About what it takes, items and all, and what its text takes again on the way out.
  std::size_t memory_bytes() const;
  double real() const;
  // status, error, bulk, big_number, verbatim; empty otherwise.
  // Stays valid when the reply is moved.
  std::string_view text() const { return text_; }
  // array, set, map (key, value, …), push, sequence; empty otherwise.
  const std::vector<Reply>& items() const;
  // Adds to an aggregate. Returns *this, so that answers can be built in one expression. What would
  // take more than kReplyMemoryMax becomes too_large, which holds nothing and takes any item.
  Reply& add(Reply item);
  // Adds a key and its value to a map. The name is a literal: it is viewed, not copied.
  Reply& add_field(std::string_view name, Reply value);

  // A copy that holds all of its text itself.
  Reply owned() const;

  // For people and tests: redis-cli's shapes in one line: `+OK`, `-ERR …`, `(integer) 1`, `"v"`,
  // `(nil)`, `["a", (integer) 2]`, `{"k": "v"}`.
  std::string to_string() const;

  friend bool operator==(const Reply& a, const Reply& b);

 private:
  struct Owned {
    std::string text;
    std::vector<Reply> items;
  };
  // Not here, so that a reply that owns nothing, as most do, ends with a look at a pointer.
  struct Release {
    void operator()(Owned* owned) const noexcept;
  };

  explicit Reply(Kind kind) : kind_(kind) {}
  Reply(Kind kind, std::int64_t number) : kind_(kind), number_(number) {}
  Reply(Kind kind, std::string_view text) : kind_(kind), text_(text) {}
  Reply(Kind kind, std::string&& text);
  Reply(Kind kind, std::vector<Reply>&& items);

  Kind kind_ = Kind::none;
  // The bits of the double for Kind::real; of an aggregate, the memory of its items.
  std::int64_t number_ = 0;
  std::string_view text_;  // looks at owned_->text, or at something that outlives the reply
  std::unique_ptr<Owned, Release> owned_;
};

}  // namespace redlock::protocol
