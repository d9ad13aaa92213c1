#include "coordinator/process/local_node.h"

#include "base/text/duration_text.h"
#include "protocol/resp/reply_parser.h"
#include "protocol/resp/request_writer.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include <fmt/format.h>

namespace redlock::coordinator {
namespace {

constexpr Duration kAskEvery = 20ms;
constexpr std::uintmax_t kTailBytesMax = 4096;
constexpr std::size_t kTailLinesMax = 5;

std::uintmax_t size_or_zero(const std::string& path) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  return error ? 0 : size;
}

// The last lines of a file, of those that were written after its first `from` bytes.
std::vector<std::string> last_lines(const std::string& path, std::uintmax_t from) {
  const std::uintmax_t size = size_or_zero(path);
  if (size > kTailBytesMax) from = std::max(from, size - kTailBytesMax);
  std::ifstream file(path);
  file.seekg(static_cast<std::streamoff>(from));
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty()) lines.push_back(line);
  }
  if (lines.size() > kTailLinesMax) {
    lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(kTailLinesMax));
  }
  return lines;
}

std::string how_it_ended(const ExitStatus& status) {
  if (status.signal == 0) return fmt::format("exited with status {}", status.code);
  return fmt::format("was ended by signal {} ({})", status.signal, strsignal(status.signal));
}

bool ended_well(const ExitStatus& status) {
  return status.signal == 0 && status.code == 0;
}

}  // namespace

std::string NodeFailure::text() const {
  std::string text = fmt::format("{} {}", node, what);
  if (last_lines.empty()) return text;
  text += fmt::format("; the end of {}:", log_file);
  for (const std::string& line : last_lines) text += "\n  " + line;
  return text;
}

LocalNode::LocalNode(net::Loop& loop, LocalNodeSettings settings, std::function<void()> on_change)
    : loop_(loop),
      settings_(std::move(settings)),
      on_change_(std::move(on_change)),
      log_file_(fmt::format("{}/{}.log", settings_.folder,
                            settings_.name.empty() ? "node" : settings_.name)),
      process_(loop, *this),
      next_question_(loop, net::ClockKind::boottime, [this] { ask(); }),
      deadline_(loop, net::ClockKind::boottime, [this] { on_deadline(); }) {
  next_question_.keep_loop_alive(false);
  deadline_.keep_loop_alive(false);
}

std::string LocalNode::name() const {
  return settings_.name.empty() ? fmt::format("node-{}", settings_.port) : settings_.name;
}

std::optional<NodeFailure> LocalNode::take_failure() {
  return std::exchange(failure_, std::nullopt);
}

void LocalNode::bootstrap() {
  start_process({"--bootstrap", "--dir", settings_.folder}, State::bootstrapping);
}

void LocalNode::serve() {
  std::vector<std::string> options = settings_.serve_words;
  if (options.empty()) {
    options = {"--port", std::to_string(settings_.port), "--dir", settings_.folder};
  }
  options.insert(options.end(), {"--logfile", log_file_});
  options.insert(options.end(), settings_.options.begin(), settings_.options.end());
  start_process(options, State::starting);
  if (state_ == State::starting) next_question_.set(net::holder_now());
}

void LocalNode::start_process(const std::vector<std::string>& options, State state) {
  log_began_at_ = size_or_zero(log_file_);
  ProcessCommand command;
  command.words = {settings_.program};
  command.words.insert(command.words.end(), options.begin(), options.end());
  command.output_file = log_file_;
  command.environment = settings_.environment;
  command.network_namespace = settings_.network_namespace;
  command.on_parent_death = settings_.on_parent_death;
  state_ = state;
  if (const auto failure = process_.start(command)) {
    return fail("could not be started: " + failure->text);
  }
  deadline_.set(net::holder_now() + settings_.ready_within);
}

void LocalNode::stop(Duration kill_after) {
  stopping_ = true;
  forget_question();
  process_.stop(SIGTERM, kill_after);
}

void LocalNode::fail(std::string what) {
  forget_question();
  state_ = State::failed;
  failure_ = NodeFailure{name(), std::move(what), last_lines(log_file_, log_began_at_), log_file_};
  on_change_();
}

void LocalNode::forget_question() {
  next_question_.set(std::nullopt);
  deadline_.set(std::nullopt);
  connection_.reset();
}

void LocalNode::on_deadline() {
  const bool serves = state_ == State::starting;
  fail(fmt::format("{} after {}", serves ? "does not answer INFO" : "has not finished --bootstrap",
                   spoken_duration(settings_.ready_within)));
}

void LocalNode::on_exit(const ExitStatus& status) {
  forget_question();
  if (stopping_) {
    if (status.was_killed) {
      unclean_stop_ = fmt::format("{} did not stop and was killed", name());
    } else if (!ended_well(status)) {
      unclean_stop_ = fmt::format("{} {}", name(), how_it_ended(status));
    }
    state_ = State::stopped;
    return on_change_();
  }
  if (state_ != State::bootstrapping || !ended_well(status)) {
    const char* what = state_ == State::bootstrapping ? "could not be bootstrapped: it " : "";
    return fail(what + how_it_ended(status));
  }
  state_ = State::bootstrapped;
  on_change_();
}

void LocalNode::ask() {
  received_.clear();
  connection_ = net::Stream::connect(loop_, {settings_.host, settings_.port}, *this);
}

void LocalNode::on_connected() {
  protocol::OutputBuffer request;
  const std::array<std::string_view, 2> info = {"INFO", "server"};
  protocol::write_request(info, request);
  connection_->start_reading();
  connection_->write(request.view());
}

// Another program may have taken the port meanwhile, and answers in this one's stead until this one
// has found out, and ends.
void LocalNode::on_bytes(std::string_view bytes) {
  received_ += bytes;
  const protocol::ParsedReply parsed = protocol::parse_reply(received_);
  if (parsed.state == protocol::ParsedReply::State::incomplete) return;
  const std::string own = fmt::format("\r\nprocess_id:{}\r\n", pid());
  if (parsed.state != protocol::ParsedReply::State::complete ||
      parsed.reply.text().find(own) == std::string_view::npos) {
    return on_end("not this process");
  }
  forget_question();
  state_ = State::ready;
  on_change_();
}

// Nobody listens yet, or whoever does cannot answer yet: soon again, until the deadline.
void LocalNode::on_end(std::string_view) {
  connection_.reset();
  next_question_.set(net::holder_now() + kAskEvery);
}

}  // namespace redlock::coordinator
