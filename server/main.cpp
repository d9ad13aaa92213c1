// redlock-node: one lock node in a process of its own. The run itself is node_run.h's.
#include "base/net/log_file.h"
#include "base/net/process/last_words.h"
#include "base/net/process/standard_streams.h"
#include "base/net/text_file.h"
#include "base/net/turn/clock.h"
#include "base/net/turn/loop.h"
#include "base/net/turn/signal.h"
#include "base/net/turn/timer.h"
#include "base/text/duration_text.h"
#include "base/version.h"
#include "server/metrics/metrics_port.h"
#include "server/metrics/node_metrics.h"
#include "server/settings/command_line.h"
#include "server/settings/setting_table.h"
#include "server/shell/audit_file.h"
#include "server/shell/node_run.h"
#include "server/shell/state_folder.h"
#include "server/shell/supervisor.h"
#include "server/sockets/descriptor_limit.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <malloc.h>
#include <optional>
#include <unistd.h>

#include <fmt/format.h>

namespace redlock::server {
namespace {

constexpr int kFailed = 1;
// The state folder, the log, the loop.
constexpr std::uint32_t kOwnDescriptors = 32;

// A broken invariant ends the process without a destructor. What the node did before is in the
// lines that the log has not written yet.
net::LogFile* log_of_process = nullptr;

void tell_broken_invariant(const char* text) {
  net::say_last_words(fmt::format("{}\n", text));
  log_of_process->log(LogLevel::warning, text);
  static_cast<void>(log_of_process->drain());
}

// Scripts around a node send signals that mean something to other servers, such as USR1 to have a
// log opened anew. As each of them would end the node like a crash, they mean nothing here; HUP
// means something once there is a loop.
void ignore_stray_signals() {
  for (const int number : {SIGHUP, SIGUSR1, SIGUSR2, SIGALRM, SIGPIPE}) {
    std::signal(number, SIG_IGN);
  }
}

int fail(std::string_view text) {
  net::say_last_words(fmt::format("redlock-node: {}\n", text));
  return kFailed;
}

Status write_pidfile(const std::string& path) {
  if (path.empty()) return Done{};
  std::FILE* const file = std::fopen(path.c_str(), "w");
  const bool is_written = file != nullptr && std::fprintf(file, "%d\n", getpid()) > 0;
  const bool is_closed = file != nullptr && std::fclose(file) == 0;
  if (!is_written || !is_closed)
    return Failure{fmt::format("cannot write the pid file {}: {}", path, std::strerror(errno))};
  return Done{};
}

// The node of this process: signals, the service manager, the pid file around a NodeRun.
class Process {
 public:
  // audit: nullptr: it has no file of its own.
  Process(Settings& settings, net::LogFile& log, net::LogFile* audit, std::string config_file)
      : settings_(settings),
        log_(log),
        audit_(audit),
        supervisor_(settings.supervised),
        run_(loop_, settings, log, {.config_file = std::move(config_file), .audit_file = audit}),
        watchdog_(loop_, net::ClockKind::monotonic, [this] { feed_watchdog(); }) {}

  int run() {
    if (const Status opened = run_.open_tls(); !opened) return give_up(opened.error().text);
    auto metrics = MetricsPort::open(loop_, MetricsPort::places(settings_), run_.tls(),
                                     [this](const net::HttpRequest& request, const net::Address&) {
                                       return page(request.path);
                                     });
    if (!metrics) return give_up(metrics.error().text);
    if (const Status opened = run_.open(); !opened) return give_up(opened.error().text);
    if (const Status written = write_pidfile(settings_.pidfile); !written) {
      return give_up(written.error().text);
    }
    if (const std::string at = metrics.value().addresses(); !at.empty()) {
      log_.log(LogLevel::notice, fmt::format("metrics are at {}, path /metrics", at));
    }
    const net::Signal on_term(loop_, SIGTERM, [this] { run_.stop(); });
    const net::Signal on_int(loop_, SIGINT, [this] { run_.stop(); });
    const net::Signal on_hup(loop_, SIGHUP, [this] { reload(); });
    feed_watchdog();
    const Status served = run_.serve({.begun = [this] { tell_supervisor(); },
                                      .recovered = [this] { supervisor_.status("serving"); }});
    if (!served) return give_up(served.error().text);
    supervisor_.stopping();
    const Status finished = run_.finish();
    if (!settings_.pidfile.empty()) unlink(settings_.pidfile.c_str());
    return finished ? 0 : give_up(finished.error().text);
  }

 private:
  net::HttpResponse page(std::string_view path) {
    const Now now = net::read_now();
    if (path == "/metrics") {
      return MetricsPort::metrics(metrics_text(run_.node(), run_.ledger_writes(), run_.tls(), now));
    }
    if (path != "/ready") return net::HttpResponse::not_found();
    const Grants& grants = run_.node().grants();
    if (grants.may_grant(now.monotonic)) return {.body = "it grants locks\n"};
    const bool recovers = grants.is_recovering(now.monotonic);
    return {.status = 503, .body = recovers ? "it recovers\n" : "its clock is not sound\n"};
  }

  int give_up(std::string_view text) {
    log_.log(LogLevel::warning, text);
    return settings_.logfile.empty() ? kFailed : fail(text);
  }

  // logrotate has renamed the files, or certificates were renewed. No setting is read anew.
  void reload() {
    log_.reopen();
    if (audit_ != nullptr) audit_->reopen();
    if (!settings_.logfile.empty())
      log_.log(LogLevel::notice, "SIGHUP: the log file is opened anew");
    run_.reload();
  }

  // From the loop, so that a loop which stands still is noticed.
  void feed_watchdog() {
    const auto interval = supervisor_.watchdog_interval();
    if (!interval) return;
    supervisor_.watchdog();
    watchdog_.set(net::read_clock(net::ClockKind::monotonic) + *interval);
  }

  void tell_supervisor() {
    const Instant now = net::read_clock(net::ClockKind::monotonic);
    if (!run_.node().grants().is_recovering(now)) return supervisor_.ready("serving");
    supervisor_.ready(fmt::format("recovering after a restart, grants locks in {}",
                                  spoken_duration(run_.node().grants().delay_left(now))));
  }

  Settings& settings_;  // CONFIG SET changes them while it runs
  net::LogFile& log_;
  net::LogFile* const audit_;
  Supervisor supervisor_;
  net::Loop loop_;
  NodeRun run_;
  net::Timer watchdog_;
};

int run_node(NodeCommandLine& command) {
  Settings& settings = command.configuration.settings;
  if (const Status usable = check(settings); !usable) return fail(usable.error().text);
  auto log = net::LogFile::open(settings.logfile);
  if (!log) return fail(log.error().text);
  log.value().set_level(settings.loglevel);
  log_of_process = &log.value();
  tell_broken_invariants(tell_broken_invariant);
  for (const std::string& warning : command.configuration.warnings) {
    log.value().log(LogLevel::warning, warning);
  }
  const auto metrics_places = static_cast<std::uint32_t>(MetricsPort::places(settings).size());
  raise_descriptor_limit(settings, log.value(),
                         kOwnDescriptors + metrics_places * MetricsPort::kDescriptorsOfPlace);
  auto audit = open_audit(settings, log.value());
  if (!audit) return fail(audit.error().text);
  std::optional<net::LogFile>& audit_file = audit.value();
  Process process(settings, log.value(), audit_file ? &*audit_file : nullptr, command.config_file);
  const int code = process.run();
  tell_broken_invariants(nullptr);
  return code;
}

std::vector<std::string> environment_of_process() {
  std::vector<std::string> entries;
  for (char** entry = environ; *entry != nullptr; ++entry) entries.emplace_back(*entry);
  return entries;
}

int bootstrap_node(const NodeCommandLine& command) {
  const Settings& settings = command.configuration.settings;
  const std::string folder = state_directory(settings);
  const std::string node_id = new_node_id(settings);
  const Status made = bootstrap(folder, node_id, command.bootstrap_floor);
  if (!made) return fail(made.error().text);
  fmt::print("{} holds the ledger of a new node, {}: its first start grants locks at once\n",
             folder, node_id);
  return 0;
}

// No list of processes is to show them any longer.
void hide_secrets(std::span<char*> words) {
  bool is_of_secret = false;
  for (char* word : words) {
    const std::string_view text(word);
    if (text.starts_with("--")) {
      is_of_secret = is_secret(text.substr(2));
    } else if (is_of_secret) {
      std::fill_n(word, text.size(), '*');
    }
  }
}

int main(std::span<char*> arguments) {
  net::fill_closed_streams();
  ignore_stray_signals();
  // Chunks of the lock arena come from mmap, so that memory goes back to the system with them.
  mallopt(M_MMAP_THRESHOLD, 64 * 1024);
  mallopt(M_ARENA_MAX, 1);
  const std::vector<std::string> words(arguments.begin() + 1, arguments.end());
  auto command = read_command_line(
      words,
      {.read_file = net::read_text_file,
       .read_standard_input = [] { return net::read_text(STDIN_FILENO); },
       .environment = environment_of_process(),
       .has_file = [](const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }});
  if (!command) return fail(command.error().text);
  hide_secrets(arguments);
  switch (command.value().deed) {
    case NodeCommandLine::Deed::show_version:
      fmt::print("redlock-node {} (speaks the protocol of Redis {})\n", kRedlockVersion,
                 kRedisVersion);
      return 0;
    case NodeCommandLine::Deed::show_help:
      fmt::print("{}", help_text());
      return 0;
    case NodeCommandLine::Deed::bootstrap:
      return bootstrap_node(command.value());
    case NodeCommandLine::Deed::run:
      return run_node(command.value());
  }
  return kFailed;
}

}  // namespace
}  // namespace redlock::server

int main(int argc, char** argv) {
  return redlock::server::main({argv, static_cast<std::size_t>(argc)});
}
