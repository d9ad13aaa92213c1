// Result<T>: a value, or why there is none. Nothing here throws.
//
//   Result<Lock, Error> got = client.acquire("printer");
//   if (!got) return tell(got.error().text, got.error().nodes);
//   use(got.value());
#pragma once

#include <redlock/same_library.h>
#include <redlock/visibility.h>

#include <optional>
#include <string>
#include <utility>

namespace redlock {

// The usual reason: a sentence that says what went wrong and what to do. On its own, so that any
// Result<T> can be made from it: `return Failure{"…"};`.
struct Failure {
  std::string text = {};
};

// Ends the process: asking a failure for its value is a mistake in the program.
[[noreturn]] REDLOCK_PUBLIC void value_of_failure(const std::string& text);

// What std::expected<T, E> is in C++23, by the same names. E: a default-constructible struct with a
// member `text`, as Failure.
template <class T, class E = Failure>
class [[nodiscard]] Result {
 public:
  using value_type = T;
  using error_type = E;

  // NOLINTNEXTLINE(google-explicit-constructor): `return value;` is the way to use it
  Result(T value) : value_(std::move(value)) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  Result(E error) : error_(std::move(error)) {}

  explicit operator bool() const { return value_.has_value(); }
  bool has_value() const { return value_.has_value(); }

  // REQUIRES: there is a value. Ends the process with the failure's sentence, else.
  T& value() & { return *checked(); }
  const T& value() const& { return *checked(); }
  T&& value() && { return std::move(*checked()); }
  T& operator*() & { return *checked(); }
  const T& operator*() const& { return *checked(); }
  T&& operator*() && { return std::move(*checked()); }
  T* operator->() { return &*checked(); }
  const T* operator->() const { return &*checked(); }

  template <class Other>
  T value_or(Other&& other) const& {
    return value_ ? *value_ : static_cast<T>(std::forward<Other>(other));
  }
  template <class Other>
  T value_or(Other&& other) && {
    return value_ ? std::move(*value_) : static_cast<T>(std::forward<Other>(other));
  }

  // Why there is none; with an empty sentence when there is a value.
  const E& error() const { return error_; }

 private:
  std::optional<T>& checked() {
    if (!value_) value_of_failure(error_.text);
    return value_;
  }
  const std::optional<T>& checked() const {
    if (!value_) value_of_failure(error_.text);
    return value_;
  }

  std::optional<T> value_;
  E error_;
};

// The value of what is done for its effect.
struct Done {};
using Status = Result<Done>;

}  // namespace redlock
