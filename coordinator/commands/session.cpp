#include "coordinator/commands/session.h"

#include "coordinator/process/process_launch.h"

#include <csignal>
#include <utility>

namespace redlock::coordinator {
namespace {

Client start_client(net::Loop& loop, const Options& options, bool admits) {
  ClientOptions client = options.client;
  client.hear_everyone = true;
  client.admit_unfenced = admits;
  return Client::start_on(loop.raw(), client).value();  // the command line has checked the options
}

}  // namespace

CommandSession::CommandSession(const Options& options, Admits admits)
    : client_(start_client(loop_, options, admits == Admits::yes)) {}

int CommandSession::run(std::function<void()> begin) {
  client_.when_ready(std::move(begin));
  loop_.run();
  return exit_code_;
}

void CommandSession::finish(int exit_code) {
  exit_code_ = exit_code;
  loop_.stop();
}

void CommandSession::finish_when_undone(int exit_code) {
  exit_code_ = exit_code;
  client_.finish([this] { loop_.stop(); });
}

void CommandSession::on_interrupt(const std::function<void(int)>& interrupted) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    if (signal_is_ignored(number)) continue;
    signals_.push_back(std::make_unique<net::Signal>(loop_, number, [=] { interrupted(number); }));
  }
}

}  // namespace redlock::coordinator
