// Stage: where a drill is told. It runs the loop until what the drill waits for has happened,
// so that a drill reads as the story it tells, a step after the other, while processes, links and
// signals go on as they like.
//
//   auto got = stage.answer<Result<Lock, Error>>([&](auto done) { client.acquire(…, done); }, 10s);
//   if (!got) …  // interrupted, or no answer in time
//
// Thread safety: none; all on the loop's thread, which must be the process's main thread. Nothing
// here is called from inside a callback of the loop.
#pragma once

#include "base/net/turn/clock.h"
#include "base/net/turn/loop.h"
#include "base/net/turn/signal.h"
#include "base/net/turn/timer.h"
#include "base/time.h"
#include <redlock/result.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace redlock::drill {

class Stage {
 public:
  // From here on SIGINT, SIGTERM and SIGHUP interrupt the drill instead of ending the process.
  Stage();

  net::Loop& loop() { return loop_; }
  Duration elapsed() const { return net::holder_now() - began_; }

  // Runs the loop until the condition holds, and says whether it does: not when the limit has
  // passed or the drill is interrupted before. The condition is looked at after each wake().
  bool until(const std::function<bool()>& condition, Duration limit);
  // Callable from callbacks: a condition may hold now.
  void wake() { loop_.stop(); }
  // False if the drill is interrupted meanwhile.
  bool pause(Duration length);

  // What `ask`'s callback is called with; nullopt as until(). A later answer is dropped.
  template <class T>
  std::optional<T> answer(const std::function<void(std::function<void(T)>)>& ask, Duration limit) {
    const auto told = std::make_shared<std::optional<T>>();
    ask([this, told](T value) {
      told->emplace(std::move(value));
      wake();
    });
    until([&] { return told->has_value(); }, limit);
    return *told;
  }

  // The signal that interrupted the drill, or 0.
  int interrupted() const { return interrupted_; }
  // What is put away after an interruption is waited for all the same, until the next one.
  void clean_up() { unseen_interruptions_ = 0; }

  // As long as it lives a first interruption waits: what must not be left half done is finished.
  class Undisturbed {
   public:
    explicit Undisturbed(Stage& stage) : stage_(stage) { stage_.patience_ = 1; }
    ~Undisturbed() { stage_.patience_ = 0; }
    Undisturbed(const Undisturbed&) = delete;
    Undisturbed& operator=(const Undisturbed&) = delete;

   private:
    Stage& stage_;
  };

 private:
  bool is_disturbed() const { return unseen_interruptions_ > patience_; }

  net::Loop loop_;
  Instant began_ = net::holder_now();
  net::Timer deadline_;
  std::vector<std::unique_ptr<net::Signal>> signals_;
  int interrupted_ = 0;
  int unseen_interruptions_ = 0;
  int patience_ = 0;  // how many interruptions wait
};

// Runs a program to its end; its output, or the last lines of it and how it ended. Program and
// output go to a file meanwhile, which other runs may have written to before. It runs in our own
// network namespace, or in the one of this descriptor.
Result<std::string> run_to_end(Stage& stage, std::vector<std::string> words,
                               const std::string& output_file, int network_namespace = -1);

}  // namespace redlock::drill
