#include "coordinator/commands/session.h"

#include "coordinator/cli/node_report.h"
#include "coordinator/process/process_launch.h"

#include <csignal>
#include <utility>

namespace redlock::coordinator {
Result<std::unique_ptr<CommandSession>, Error> CommandSession::begin(const Options& options,
                                                                     Admits admits) {
  auto loop = net::Loop::make();
  if (!loop) return Error{ErrorCode::system, loop.error().text, {}};
  ClientOptions settings = options.client;
  settings.hear_everyone = true;
  settings.admit_unfenced = admits == Admits::yes;
  if (admits == Admits::no) settings.unsafe_members = true;  // it wants no votes
  if (options.verbose) settings.log = [](Severity, std::string_view line) { complain(line); };
  auto client = Client::start_on((*loop)->raw(), settings);
  if (!client) return client.error();
  return std::unique_ptr<CommandSession>(
      new CommandSession(std::move(loop).value(), std::move(client).value()));
}

// The client's end answers all that still waits, also this, when the command is gone.
int CommandSession::run(std::function<void()> begin) {
  client_.when_ready([this, begin = std::move(begin)] {
    if (!is_over_) begin();
  });
  loop_->run();
  return exit_code_;
}

void CommandSession::finish(int exit_code) {
  is_over_ = true;
  exit_code_ = exit_code;
  loop_->stop();
}

void CommandSession::finish_when_undone(int exit_code) {
  is_over_ = true;
  exit_code_ = exit_code;
  client_.finish([this] { loop_->stop(); });
}

void CommandSession::on_interrupt(const std::function<void(int)>& interrupted) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    if (signal_is_ignored(number)) continue;
    signals_.push_back(std::make_unique<net::Signal>(*loop_, number, [=] { interrupted(number); }));
  }
}

}  // namespace redlock::coordinator
