// redlock serve: a front door, until SIGTERM, SIGINT, or a client's SHUTDOWN.
#include "base/invariant.h"
#include "base/net/log_file.h"
#include "base/net/process/last_words.h"
#include "base/net/turn/clock.h"
#include "base/net/turn/signal.h"
#include "base/net/turn/timer.h"
#include "coordinator/cli/node_report.h"
#include "coordinator/commands/commands.h"
#include "coordinator/serving/door_run.h"
#include "server/settings/setting_table.h"
#include "server/shell/audit_file.h"
#include "server/shell/supervisor.h"
#include "server/sockets/descriptor_limit.h"

#include <csignal>
#include <utility>

#include <fmt/format.h>

namespace redlock::coordinator {
namespace {

// The log, the loop, timers and signals, a connection to each node, and one more while it is
// dialed; the same once more for the page; those who look at it, and who collect metrics.
constexpr std::uint32_t kOwnDescriptors = 192 + server::MetricsPort::kDescriptorsOfPlace;

net::LogFile* log_of_process = nullptr;

// A broken invariant ends the process without a destructor.
void tell_broken_invariant(const char* text) {
  net::say_last_words(fmt::format("{}\n", text));
  log_of_process->log(LogLevel::warning, text);
  static_cast<void>(log_of_process->drain());
}

class Serve {
 public:
  // audit: nullptr: it has no file of its own.
  Serve(DoorSettings settings, ParsedOptions nodes, net::LogFile& log, net::LogFile* audit,
        bool require_quorum)
      : log_(log),
        audit_(audit),
        require_quorum_(require_quorum),
        supervisor_(server::Settings::Supervised::automatic),
        door_(loop_, std::move(settings), std::move(nodes), log, audit),
        watchdog_(loop_, net::ClockKind::monotonic, [this] { feed_watchdog(); }) {}

  int run() {
    if (const Status opened = door_.open(); !opened) {
      complain(opened.error().text);
      return exit_code::kNo;
    }
    const net::Signal on_term(loop_, SIGTERM, [this] { stop(); });
    const net::Signal on_int(loop_, SIGINT, [this] { stop(); });
    const net::Signal on_hup(loop_, SIGHUP, [this] { reload(); });
    feed_watchdog();
    const Status served = door_.serve(
        {.met = [this](DoorRun::Met met) { begin(met); }, .ended = [this] { loop_.stop(); }});
    if (!served) {
      complain(served.error().text);
      return exit_code::kNo;
    }
    loop_.run();
    return exit_code_;
  }

 private:
  void begin(DoorRun::Met met) {
    const bool is_other_group = met == DoorRun::Met::other_group;
    const std::string_view trouble = is_other_group ? "the nodes named are not those of the group"
                                                    : "no quorum of the nodes answers";
    if (met == DoorRun::Met::quorum) return supervisor_.ready("serving");
    if (!require_quorum_) return supervisor_.ready(fmt::format("serving, but {}", trouble));
    log_.log(LogLevel::warning, fmt::format("{} (--require-quorum)", trouble));
    exit_code_ = is_other_group ? exit_code::kConfiguration : exit_code::kNoQuorum;
    stop();
  }

  void stop() {
    if (std::exchange(is_stopping_, true)) return;
    supervisor_.stopping();
    door_.stop();
  }

  // logrotate has renamed the log, or certificates were renewed. No setting is read anew.
  void reload() {
    log_.reopen();
    if (audit_ != nullptr) audit_->reopen();
    door_.reload();
  }

  // From the loop, so that a loop which stands still is noticed.
  void feed_watchdog() {
    const auto interval = supervisor_.watchdog_interval();
    if (!interval) return;
    supervisor_.watchdog();
    watchdog_.set(net::read_clock(net::ClockKind::monotonic) + *interval);
  }

  net::LogFile& log_;
  net::LogFile* const audit_;
  const bool require_quorum_;
  server::Supervisor supervisor_;
  net::Loop loop_;
  DoorRun door_;
  net::Timer watchdog_;
  bool is_stopping_ = false;
  int exit_code_ = exit_code::kDone;
};

// What sessions go by, by the node's own code. The exit code of a mistake, or 0.
int read_sessions(const ServeOptions& options, server::Settings& settings) {
  for (const ServeOptions::OfSessions& given : options.of_sessions) {
    const auto applied = server::apply(settings, given.name, {given.value});
    if (applied) continue;
    complain(fmt::format("{}: {}", given.origin, applied.error().text));
    return given.is_flag ? exit_code::kUsage : exit_code::kConfiguration;
  }
  return exit_code::kDone;
}

}  // namespace

int command_serve(const Options& options) {
  DoorSettings settings;
  settings.listen = options.serve.listen;
  settings.listen_tls = options.serve.listen_tls;
  settings.http = options.http;
  settings.http_tls = options.serve.http_tls;
  settings.page_client = options.client;
  settings.door.times = {.acquire_time = options.serve.acquire_time,
                         .reply_time = options.serve.reply_time,
                         .clock_drift = options.client.clock_drift};
  settings.door.max_ttl = options.serve.max_ttl;
  server::Settings& sessions = settings.door.settings;
  if (const int mistake = read_sessions(options.serve, sessions); mistake != 0) return mistake;
  if (options.http) settings.names = StatusPage::names_at(*options.http, options.http_names);
  auto nodes = ParsedOptions::read(options.client);
  if (!nodes) {
    complain(nodes.error().text);
    return exit_code::kConfiguration;
  }
  const LogLevel level = sessions.loglevel;  // outlives the log
  auto log = net::LogFile::open(sessions.logfile);
  if (!log) {
    complain(log.error().text);
    return exit_code::kConfiguration;
  }
  log.value().set_level(level);
  log_of_process = &log.value();
  tell_broken_invariants(tell_broken_invariant);
  server::raise_descriptor_limit(sessions, log.value(), kOwnDescriptors);
  auto audit = server::open_audit(sessions, log.value());
  if (!audit) {
    complain(audit.error().text);
    return exit_code::kConfiguration;
  }
  Serve serve(std::move(settings), std::move(nodes).value(), log.value(),
              audit.value() ? &*audit.value() : nullptr, options.serve.require_quorum);
  const int code = serve.run();
  tell_broken_invariants(nullptr);
  return code;
}

}  // namespace redlock::coordinator
