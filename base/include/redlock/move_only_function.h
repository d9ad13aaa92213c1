// MoveOnlyFunction<void(int)>: what std::move_only_function is in C++23. A callable that is moved
// and never copied, so what it captures need not be copyable either:
//
//   client.acquire("printer", {}, [job = std::make_unique<Job>()](Result<Lock, Error> got) { … });
//
// Whatever can be called with these arguments becomes one, a std::function too; what is empty
// becomes an empty one.
//
// Thread safety: none. It is called by one thread at a time; what it captures ends where it ends.
#pragma once

#include <redlock/same_library.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

namespace redlock {

template <class Signature>
class MoveOnlyFunction;

template <class Outcome, class... Arguments>
class MoveOnlyFunction<Outcome(Arguments...)> {
 public:
  MoveOnlyFunction() noexcept = default;
  // NOLINTNEXTLINE(google-explicit-constructor): as a std::function
  MoveOnlyFunction(std::nullptr_t) noexcept {}
  template <class Target>
  requires(!std::is_same_v<std::remove_cvref_t<Target>, MoveOnlyFunction> &&
           std::is_invocable_r_v<Outcome, std::decay_t<Target>&, Arguments...>)
      // NOLINTNEXTLINE(google-explicit-constructor): a lambda is passed as it is
      MoveOnlyFunction(Target&& target) {
    if (!is_empty(target)) {
      call_ = std::make_unique<CallOf<std::decay_t<Target>>>(std::forward<Target>(target));
    }
  }

  explicit operator bool() const noexcept { return call_ != nullptr; }

  // As often as the target may be called. REQUIRES: not empty.
  Outcome operator()(Arguments... arguments) {
    return call_->run(std::forward<Arguments>(arguments)...);
  }

 private:
  struct Call {
    Call() = default;
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;
    virtual ~Call() = default;
    virtual Outcome run(Arguments... arguments) = 0;
  };
  template <class Target>
  struct CallOf final : Call {
    explicit CallOf(Target&& wanted) : target(std::move(wanted)) {}
    explicit CallOf(const Target& wanted) : target(wanted) {}
    Outcome run(Arguments... arguments) override {
      return static_cast<Outcome>(std::invoke(target, std::forward<Arguments>(arguments)...));
    }
    Target target;
  };

  template <class Other>
  static bool is_empty(const Other&) {
    return false;
  }
  template <class Other>
  static bool is_empty(const std::function<Other>& function) {
    return !function;
  }
  template <class Other>
  static bool is_empty(const MoveOnlyFunction<Other>& function) {
    return !function;
  }
  template <class Other>
  static bool is_empty(Other* pointer) {
    return pointer == nullptr;
  }

  std::unique_ptr<Call> call_;
};

}  // namespace redlock
