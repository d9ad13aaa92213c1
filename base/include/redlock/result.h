// Result<T>: a value, or why there is none. Nothing here throws.
//
//   Result<Lock, Error> got = client.acquire("printer");
//   if (!got) return tell(got.error(), got.failure().nodes);
//   use(got.value());
#pragma once

#include <optional>
#include <string>
#include <utility>

namespace redlock {

// The usual reason: a sentence that says what went wrong and what to do. On its own, so that any
// Result<T> can be made from it: `return Failure{"…"};`.
struct Failure {
  std::string text;
};

// Ends the process: asking a failure for its value is a mistake in the program.
[[noreturn]] void value_of_failure(const std::string& text);

// E: a default-constructible struct with a member `text`, as Failure.
template <class T, class E = Failure>
class [[nodiscard]] Result {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): `return value;` is the way to use it
  Result(T value) : value_(std::move(value)) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  Result(E failure) : failure_(std::move(failure)) {}

  explicit operator bool() const { return value_.has_value(); }

  // REQUIRES: there is a value.
  T& value() & { return *checked(); }
  const T& value() const& { return *checked(); }
  T&& value() && { return std::move(*checked()); }

  // The failure's sentence; empty when there is a value.
  const std::string& error() const { return failure_.text; }
  const E& failure() const { return failure_; }

 private:
  std::optional<T>& checked() {
    if (!value_) value_of_failure(failure_.text);
    return value_;
  }
  const std::optional<T>& checked() const {
    if (!value_) value_of_failure(failure_.text);
    return value_;
  }

  std::optional<T> value_;
  E failure_;
};

// The value of what is done for its effect.
struct Done {};
using Status = Result<Done>;

}  // namespace redlock
