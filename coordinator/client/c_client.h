// redlock.h's inside: what a client and its locks share, and how failures are told to C.
#pragma once

#include "base/net/process/forks.h"
#include "coordinator/client/client_core.h"
#include <redlock/client.h>
#include <redlock/redlock.h>

#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <utility>

namespace redlock::coordinator {

// A client that C opened. Its locks have it too, as they may outlive redlock_close.
//
// Thread safety: any thread. Blocking calls wait without the mutex, so that close() can end them.
class CHome {
 public:
  explicit CHome(Client client) : client_(std::move(client)) {}
  CHome(const CHome&) = delete;
  CHome& operator=(const CHome&) = delete;

  // begin(client, callback) begins an operation; its outcome, waited for.
  template <class T, class Begin>
  Result<T, Error> ask(Begin begin) {
    if (auto refusal = why_not_now()) return *std::move(refusal);
    return wait_for<T>([&](Client::Callback<T> done) {
      const std::lock_guard lock(mutex_);
      if (!client_) return done(stopped_error());
      begin(*client_, std::move(done));
    });
  }
  bool is_in_child() const { return mark_.is_in_child(); }
  // Why a blocking call cannot be made here, if so.
  std::optional<Error> why_not_now() const {
    if (is_in_child()) return forked_error();
    if (calling_back == this) return wrong_thread_error();
    return std::nullopt;
  }
  // Does nothing in a forked child: there it is the parent's.
  void close();

  // While one of the client's callbacks runs on its thread: the home of that client.
  class CallingBack {
   public:
    explicit CallingBack(const CHome* home) : before_(std::exchange(calling_back, home)) {}
    ~CallingBack() { calling_back = before_; }
    CallingBack(const CallingBack&) = delete;
    CallingBack& operator=(const CallingBack&) = delete;

   private:
    const CHome* before_;
  };

 private:
  static inline thread_local const CHome* calling_back = nullptr;

  const net::ForkMark mark_;
  std::mutex mutex_;  // over what follows
  std::optional<Client> client_;
};

// Fills in *error, unless that is nullptr.
redlock_code tell(redlock_error* error, const Error& why);
redlock_code tell_success(redlock_error* error);
// Without memory of its own.
redlock_code tell(redlock_error* error, redlock_code code, const char* text);

inline Error invalid_argument(const char* text) {
  return {ErrorCode::invalid, text, {}};
}

// What a function for C does: `run` returns a code, and what the standard library throws
// in it ends here.
template <class Run>
redlock_code run_for_c(redlock_error* error, Run run) {
  try {
    return run();
  } catch (const std::bad_alloc&) {
    return tell(error, REDLOCK_NO_MEMORY, "the system gives no memory");
  } catch (const std::exception& exception) {
    return tell(error, REDLOCK_SYSTEM, exception.what());
  }
}

// Of what returns no code: `nothing` stands for what could not be found out.
template <class T, class Look>
T look_for_c(T nothing, Look look) {
  try {
    return look();
  } catch (const std::exception&) {
    return nothing;
  }
}

// As many nanoseconds as there are: 292 years stand for all that is longer.
inline Duration from_milliseconds(std::int64_t count) {
  constexpr std::int64_t kMost =
      std::chrono::duration_cast<std::chrono::milliseconds>(Duration::max()).count();
  if (count > kMost) return Duration::max();
  return count < -kMost ? -Duration::max() : Duration(std::chrono::milliseconds(count));
}

}  // namespace redlock::coordinator

// What a redlock_client* points to.
struct redlock_client {
  std::shared_ptr<redlock::coordinator::CHome> home;
};
