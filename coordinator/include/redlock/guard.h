// Guard: a lock that is kept until it is let go.
//
//   auto guard = client.guard("report", {.ttl = 10s, .on_loss = [](const Error& why) { … }});
//   while (work_left() && guard.value().valid()) do_some_work();
//
// It extends the lock at a third of its TTL, in the background, for as long as a quorum agrees.
// When that fails it tells so in time: the lock counts as lost `notice` before its validity ends,
// or as soon as the nodes say that it is another's, or when the holder's clocks cannot be trusted
// (the machine slept). From that moment on valid() is false, for good, and on_loss has been called
// or will be at once. So whoever asks valid() before each step, and needs at most `notice` for one,
// never works under a lock that another may have.
#pragma once

#include <redlock/answer.h>
#include <redlock/client.h>
#include <redlock/result.h>
#include <redlock/visibility.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>

namespace redlock {

struct REDLOCK_PUBLIC GuardOptions {
  // 10 ms and more; see AcquireOptions.
  std::chrono::nanoseconds ttl = std::chrono::seconds(30);
  // As AcquireOptions::wait, but for ever is the default.
  std::optional<std::chrono::nanoseconds> wait = std::nullopt;
  // See AcquireOptions. The lock's token is the same for as long as it is kept: lock().token.
  bool fence = true;
  // Ends the wait for the lock, and nothing else: see AcquireOptions.
  std::stop_token stop = {};
  // Why the lock is waited for: see AcquireOptions. A Mutex calls it on the thread that locks, too.
  std::function<void(const Error&)> on_wait = {};
  bool tells_every_attempt = false;
  // How long before the end of its validity a lock that cannot be extended counts as lost. nullopt:
  // a tenth of the TTL, at most 5 s. At most six tenths of the TTL.
  std::optional<std::chrono::nanoseconds> notice = std::nullopt;
  // Called once when the lock is lost, on the client's thread; it must not block. The error's code
  // is ErrorCode::lost, its nodes are those of the last extension that failed. Not called after
  // release(), nor when the client ends.
  std::function<void(const Error&)> on_loss = {};
  // Called after each extension, on the client's thread, with the new Lock::valid_until; it must
  // not block. For whoever hands the instant on to somebody who watches it as well.
  std::function<void(std::chrono::nanoseconds)> on_extended = {};
};

class REDLOCK_PUBLIC Guard {
 public:
  // Holds nothing.
  Guard() = default;
  Guard(Guard&&) noexcept;
  Guard& operator=(Guard&&) noexcept;
  // Releases the lock in the background, without waiting: release() tells whether it worked.
  ~Guard();

  // Whether the lock may be relied on at this moment, and for `notice` more. Reads a clock; does
  // not block. Any thread.
  bool valid() const;
  // Until valid() will be false if no extension succeeds; 0 when it is. Any thread; does not block.
  std::chrono::nanoseconds validity_left() const;

  // The lock as it stands, for its value. REQUIRES: not released, not moved from.
  Lock lock() const;

  // Stops whatever works under the lock once that is lost: a stop is requested on the client's
  // thread, before on_loss is called. Not at a release. REQUIRES: as lock.
  std::stop_token lost() const;

  // Blocks as Client::release does, and fails as it does. A lock that was lost is released too, as
  // some nodes may still have it: then the error is not_held. Holds nothing afterwards, but after
  // wrong_thread: then nothing was done.
  Result<Done, Error> release();
  // The same without blocking, with a callback on the client's thread; where there is none any
  // more, or nothing is held, it comes from inside this call.
  void release(Client::Callback<Done> done);
  // Neither extends it any more nor releases it: it runs out by itself. For a holder who knows that
  // something still works under it. Holds nothing afterwards.
  void abandon();
  // The same, with the lock, for whoever extends, releases or keeps it on (Client::keep).
  Lock detach();

 private:
  class Keeping;
  class Several;
  friend class Client;
  void drop();
  explicit Guard(std::shared_ptr<Keeping> keeping);

  std::shared_ptr<Keeping> keeping_;
};

}  // namespace redlock
