// Result<T>: a value, or a sentence for the operator that says what went wrong and what to do.
//
// For start-up, configuration and files. Outcomes that a caller is expected to tell apart are enums
// or small structs instead. Nothing here throws; value() of a failure is a broken invariant.
#pragma once

#include "base/invariant.h"

#include <optional>
#include <string>
#include <utility>

namespace redlock {

// The failing half, on its own so that any Result<T> can be made from it: `return Failure{"…"};`.
struct Failure {
  std::string text;
};

template <class T>
class [[nodiscard]] Result {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): `return value;` is the way to use it
  Result(T value) : value_(std::move(value)) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  Result(Failure failure) : error_(std::move(failure.text)) {}

  explicit operator bool() const { return value_.has_value(); }

  T& value() & {
    INVARIANT(value_.has_value(), "value() of a failed Result");
    return *value_;
  }
  const T& value() const& {
    INVARIANT(value_.has_value(), "value() of a failed Result");
    return *value_;
  }
  T&& value() && {
    INVARIANT(value_.has_value(), "value() of a failed Result");
    return std::move(*value_);
  }

  // Empty when there is a value.
  const std::string& error() const { return error_; }
  Failure failure() const { return Failure{error_}; }

 private:
  std::optional<T> value_;
  std::string error_;
};

struct Done {};
using Status = Result<Done>;

}  // namespace redlock
