#include "coordinator/drill/world/stage.h"

#include "base/text/duration_text.h"
#include "coordinator/process/child_process.h"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

namespace redlock::drill {
namespace {

constexpr Duration kProgramWithin = 30s;  // an ssh to a far machine and a slow start among them
constexpr Duration kKilledAfter = 1s;

class OneRun : private coordinator::ChildProcess::User {
 public:
  explicit OneRun(Stage& stage) : stage_(stage), process_(stage.loop(), *this) {}

  Status run(const coordinator::ProcessCommand& command) {
    if (const auto failure = process_.start(command)) return Failure{failure->text};
    if (!stage_.until([this] { return status_.has_value(); }, kProgramWithin)) return give_up();
    if (status_->signal != 0) return Failure{fmt::format("ended by signal {}", status_->signal)};
    if (status_->code != 0) return Failure{fmt::format("exit status {}", status_->code)};
    return Done{};
  }

 private:
  Failure give_up() {
    process_.stop(SIGTERM, kKilledAfter);
    stage_.until([this] { return status_.has_value(); }, 2 * kKilledAfter);
    if (stage_.interrupted() != 0) return {"interrupted"};
    return {fmt::format("not done after {}; what is to go on must be left in the background",
                        spoken_duration(kProgramWithin))};
  }
  void on_exit(const coordinator::ExitStatus& status) override {
    status_ = status;
    stage_.wake();
  }

  Stage& stage_;
  coordinator::ChildProcess process_;
  std::optional<coordinator::ExitStatus> status_;
};

std::string text_of(const std::string& path, std::uintmax_t from) {
  std::ifstream file(path);
  file.seekg(static_cast<std::streamoff>(from));
  std::string text{std::istreambuf_iterator<char>(file), {}};
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

}  // namespace

Stage::Stage() : deadline_(loop_, net::ClockKind::boottime, [this] { wake(); }) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    if (coordinator::signal_is_ignored(number)) continue;
    signals_.push_back(std::make_unique<net::Signal>(loop_, number, [this, number] {
      interrupted_ = number;
      ++unseen_interruptions_;
      wake();
    }));
  }
}

bool Stage::until(const std::function<bool()>& condition, Duration limit) {
  const Instant deadline = later(net::holder_now(), limit);
  deadline_.set(deadline);
  while (!condition()) {
    if (is_disturbed() || net::holder_now() >= deadline) return false;
    loop_.run();
  }
  deadline_.set(std::nullopt);
  return true;
}

bool Stage::pause(Duration length) {
  until([] { return false; }, length);
  return !is_disturbed();
}

Result<std::string> run_to_end(Stage& stage, std::vector<std::string> words,
                               const std::string& output_file, int network_namespace) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(output_file, error);
  const std::uintmax_t from = error ? 0 : size;
  coordinator::ProcessCommand command;
  command.words = std::move(words);
  command.output_file = output_file;
  command.network_namespace = network_namespace;
  const Status ended = OneRun(stage).run(command);
  const std::string output = text_of(output_file, from);
  if (ended) return output;
  return Failure{output.empty() ? ended.error().text
                                : fmt::format("{}: {}", ended.error().text, output)};
}

}  // namespace redlock::drill
