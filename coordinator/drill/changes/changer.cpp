#include "coordinator/drill/changes/changer.h"

#include "coordinator/drill/world/folder.h"

#include <csignal>
#include <fstream>
#include <utility>

#include <fmt/format.h>

namespace redlock::drill {
namespace {

constexpr const char* kThisProgram = "/proc/self/exe";
// With faults of nodes, too, and rule G3's wait between two changes.
constexpr Duration kDoneWithin = 60s;
constexpr Duration kAgainAfter = 100ms;

// How `redlock group` ends where it is to be said again: too few nodes answered; another change
// came first.
constexpr int kNoQuorum = 69;
constexpr int kRefused = 78;

std::string last_line_of(const std::string& path) {
  std::ifstream file(path);
  std::string last;
  for (std::string line; std::getline(file, line);) last = line;
  return last;
}

}  // namespace

Changer::Changer(Stage& stage, Recorder& recorder, std::string name, std::uint64_t seed,
                 std::string output_file)
    : stage_(stage),
      recorder_(recorder),
      name_(std::move(name)),
      output_file_(std::move(output_file)),
      random_(seed),
      next_(stage.loop(), net::ClockKind::boottime, [this] { stage_.wake(); }),
      process_(stage.loop(), *this) {}

void Changer::begin(ChangeOrder order) {
  order_ = std::move(order);
  began_ = stage_.elapsed();
  due_ = began_;
}

Status Changer::look() {
  if (!problem_ || !order_) return problem_;
  if (stage_.elapsed() - began_ > kDoneWithin) {
    return Failure{
        fmt::format("the change of {} did not come to its end within {} s; its "
                    "commands:\n{}",
                    order_->text, kDoneWithin / 1s, text_of(output_file_))};
  }
  if (!due_ || stage_.elapsed() < *due_) return Done{};
  due_.reset();
  if (!process_.is_running()) return launch();
  recorder_.tell(name_, What::killed);
  was_killed_ = true;
  --order_->kills;
  process_.stop(SIGKILL, 0s);
  return Done{};
}

Status Changer::launch() {
  coordinator::ProcessCommand command;
  command.words = {kThisProgram, "group"};
  command.words.insert(command.words.end(), order_->words.begin(), order_->words.end());
  command.words.insert(command.words.end(), {"--nodes", order_->nodes});
  command.output_file = output_file_;
  was_killed_ = false;
  recorder_.tell({.who = name_, .what = What::started, .change = order_->text});
  if (const auto failure = process_.start(command)) return Failure{failure->text};
  if (order_->kills > 0) {
    due_ = stage_.elapsed() + kill_after();
    next_.set(net::holder_now() + (*due_ - stage_.elapsed()));
  }
  return Done{};
}

// From 2 to 256 ms, each octave as often: the first steps take few of them,
// a wait for silent nodes many.
Duration Changer::kill_after() {
  const auto octave = std::uint64_t{1'000'000} << (1 + random_.below(7));
  return Duration(octave + random_.below(octave));
}

void Changer::on_exit(const coordinator::ExitStatus& status) {
  const int code = status.as_shell_status();
  due_ = stage_.elapsed() + kAgainAfter;
  next_.set(net::holder_now() + kAgainAfter);
  stage_.wake();
  if (!order_ || (was_killed_ && status.signal == SIGKILL)) return;
  Event ended{.who = name_, .what = What::killed, .why = fmt::format("exit status {}", code)};
  if (code != 0) ended.why += "; " + last_line_of(output_file_);
  if (code == 0) {
    ended.change = order_->done;
    order_.reset();
    due_.reset();
  } else if (code != kNoQuorum && code != kRefused) {
    problem_ =
        Failure{fmt::format("`redlock group` ended with {}:\n{}", code, text_of(output_file_))};
  }
  recorder_.tell(std::move(ended));
}

void Changer::end() {
  order_.reset();
  next_.set(std::nullopt);
  if (process_.is_running()) process_.stop(SIGKILL, 0s);
}

}  // namespace redlock::drill
