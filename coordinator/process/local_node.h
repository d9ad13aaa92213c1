// LocalNode: one redlock-node process of LocalNodes, from its bootstrap to its end; or the front
// door beside them, which answers INFO as they do.
//
// Says only that something changed; whoever owns it looks at state() and asks for the failure. It
// is never told from inside a call to it.
#pragma once

#include "base/net/sockets/stream.h"
#include "base/net/turn/loop.h"
#include "base/net/turn/timer.h"
#include "base/time.h"
#include "coordinator/process/child_process.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace redlock::coordinator {

struct LocalNodeSettings {
  std::string program;
  std::uint16_t port = 0;
  std::string folder;                // absolute
  std::vector<std::string> options;  // "--max-ttl", "10s", …
  Duration ready_within = 10s;       // to the first answer to INFO
  // kill_group: for one that may be stopped (SIGSTOP) when we die, and would not take a SIGTERM.
  OnParentDeath on_parent_death = OnParentDeath::terminate;
  std::string host = "127.0.0.1";  // where it is asked; that it listens there is an option's work
  std::vector<std::string> environment = {};  // as in ProcessCommand
  int network_namespace = -1;                 // as in ProcessCommand
  std::string name = {};                      // empty: "node-PORT"
  // What the program is started with to serve, before its log file and `options`; empty: what a
  // node is.
  std::vector<std::string> serve_words = {};
};

// What went wrong with one node.
struct NodeFailure {
  std::string node;                     // "node-7003"
  std::string what;                     // "was ended by signal 9 (Killed)"
  std::vector<std::string> last_lines;  // of its log, oldest first; only from this start on
  std::string log_file;

  std::string text() const;  // all of it, a line for each line of the log
};

class LocalNode final : private ChildProcess::User, private net::Stream::User {
 public:
  enum class State {
    idle,
    bootstrapping,
    bootstrapped,
    starting,  // runs, has not answered yet
    ready,     // has answered INFO, with the id of its process
    failed,    // ended without being told to, or does not answer (then it may still run)
    stopped,   // ended as told
  };

  LocalNode(net::Loop& loop, LocalNodeSettings settings, std::function<void()> on_change);
  LocalNode(const LocalNode&) = delete;
  LocalNode& operator=(const LocalNode&) = delete;

  void bootstrap();  // rule R1: the caller has made the folder itself
  void serve();
  void stop(Duration kill_after);
  // Sends a signal to it and whatever it has started. Nothing if it does not run.
  void pass_on(int signal) { process_.pass_on(signal); }

  State state() const { return state_; }
  bool is_running() const { return process_.is_running(); }
  pid_t pid() const { return process_.pid(); }
  const LocalNodeSettings& settings() const { return settings_; }
  std::string name() const;

  // Each failure once.
  std::optional<NodeFailure> take_failure();
  // After a stop that was not as it should be: why, for people; else empty.
  const std::string& unclean_stop() const { return unclean_stop_; }

 private:
  void start_process(const std::vector<std::string>& options, State state);
  void fail(std::string what);
  void ask();
  void on_deadline();
  void forget_question();

  void on_exit(const ExitStatus& status) override;
  void on_connected() override;
  void on_bytes(std::string_view bytes) override;
  void on_end(std::string_view reason) override;

  net::Loop& loop_;
  LocalNodeSettings settings_;
  std::function<void()> on_change_;
  std::string log_file_;
  std::uintmax_t log_began_at_ = 0;  // what is before it was written by earlier starts
  State state_ = State::idle;
  bool stopping_ = false;
  std::optional<NodeFailure> failure_;
  std::string unclean_stop_;

  ChildProcess process_;
  net::Timer next_question_;
  net::Timer deadline_;
  std::unique_ptr<net::Stream> connection_;
  std::string received_;
};

}  // namespace redlock::coordinator
