#include "server/shell/node_run.h"

#include "base/net/process/system_random.h"
#include "base/net/turn/before_wait.h"
#include "base/net/turn/clock.h"
#include "base/net/turn/timer.h"
#include "base/version.h"
#include "server/commands/families.h"
#include "server/settings/setting_table.h"
#include "server/shell/process_inspector.h"
#include "server/sockets/node_host.h"

#include <array>
#include <thread>
#include <utility>

#include <fmt/format.h>

namespace redlock::server {
namespace {

Instant now() {
  return net::read_clock(net::ClockKind::monotonic);
}

void sleep_for(Duration length) {
  std::this_thread::sleep_for(length);
}

}  // namespace

std::string random_node_id() {
  std::array<unsigned char, kNodeIdBytes> bytes{};
  net::system_random(bytes);
  return make_node_id(bytes);
}

std::string new_node_id(const Settings& settings) {
  return settings.node_id.empty() ? random_node_id() : settings.node_id;
}

NodeRun::NodeRun(net::Loop& loop, Settings& settings, LogSink& log, Options options)
    : loop_(loop),
      settings_(settings),
      log_(log),
      options_(std::move(options)),
      watchdog_(settings.busy_reply_threshold, settings.script_time_limit) {}

Status NodeRun::open_tls() {
  if (tls_) return Done{};
  auto tls = server::open_tls(settings_);
  if (!tls) return tls.error();
  tls_ = std::move(tls).value();
  return Done{};
}

void NodeRun::reload() {
  if (tls_) renew_tls_and_tell(*tls_, settings_, log_);
}

Status NodeRun::open() {
  if (Status opened = open_tls(); !opened) return opened;
  auto listeners = Listeners::open(loop_, Listeners::places(settings_, options_.any_free_port),
                                   settings_, tls_.get());
  if (!listeners) return listeners.error();
  listeners_ = std::move(listeners).value();
  if (options_.any_free_port) settings_.port = listeners_->port();
  if (auto opened = open_folder(); !opened) return opened;
  const Instant start = now();  // after the folder's lock, never before it
  if (folder_) {
    auto all = folder_->find();
    if (!all) return all.error();
    decision_ = decide(all.value(), settings_, start, random_node_id());
  } else {
    decision_ = decide_without_folder(settings_, start, random_node_id());
  }
  if (!settings_.aclfile.empty()) acl_file_.emplace(settings_.aclfile);
  node_.emplace(
      all_families(), settings_,
      node_start(decision_, settings_, start, random_node_id(), net::system_random_seed()),
      Node::Environment{
          .inspect =
              process_inspector(options_.config_file, listeners_->port(), options_.owns_process),
          .log = log_,
          .script_watch = &watchdog_,
          .ledger = folder_ ? &folder_->latest_deadline_page() : nullptr,
          .sleep = sleep_for,
          .stopwatch = now,
          .user_file = acl_file_ ? &*acl_file_ : nullptr,
          .system_random = net::system_random,
          .accept_tls = [this](const Settings& to) { return renew_tls(tls_.get(), to); },
          .audit_file = options_.audit_file});
  if (Status loaded = node_->load_users(); !loaded) return loaded;
  return restore();
}

Status NodeRun::open_folder() {
  if (!options_.has_folder) return Done{};
  const std::string path = state_directory(settings_);
  if (options_.bootstrap) {
    auto made = bootstrap(path, new_node_id(settings_), 0, WhereLedgerIs::leave_it);
    if (!made) return made;
  }
  auto folder = StateFolder::open(path);
  if (!folder) return folder.error();
  folder_.emplace(std::move(folder).value());
  return Done{};
}

Status NodeRun::restore() {
  if (!folder_) return Done{};
  bool has_room = true;
  auto restored = folder_->restore(
      decision_,
      [&](const SavedLock& lock) { has_room = node_->grants().restore(lock) && has_room; },
      [&](const SavedMark& mark) { node_->grants().restore(mark); });
  if (restored && !has_room) return Failure{"no memory for the locks of the last run"};
  return restored;
}

// Rules R3 and R9: the run becomes durable first. A flush takes the disk's time, so it happens on a
// thread of its own, while the node answers what touches no lock and keeps the rest
// (Node::begin_run). Nobody else uses the folder meanwhile.
Status NodeRun::serve(const Hooks& hooks) {
  NodeHost host(*node_, now);
  SessionServer server(loop_, host, *listeners_, {.stopped = [this] { loop_.stop(); }});
  server_ = &server;
  net::Timer recovered(loop_, net::ClockKind::monotonic, [&] {
    log_.log(LogLevel::notice, "the restart delay is over: locks are granted from now on");
    if (hooks.recovered) hooks.recovered();
  });
  net::BeforeWait end_of_turn(loop_, [this] { look_after_ledger(); });
  const auto begin = [&] {
    tell_start();
    node_->begin_run(net::read_now());
    if (node_->grants().is_recovering(now())) recovered.set(node_->start().grant_from);
    if (hooks.begun) hooks.begun();
  };
  Status durable = Done{};
  const auto make_durable = [&] {
    if (folder_) durable = folder_->begin_run(decision_);
  };
  net::BackgroundTask task(loop_, make_durable, [&] {
    if (!durable) return loop_.stop();
    begin();
  });
  loop_.run();
  task.wait();  // a stop may have come before
  if (ledger_write_) ledger_write_->wait();
  server_ = nullptr;
  return durable;
}

// One write at a time, on a thread of its own: requests that do not need it go on (rule R8).
void NodeRun::look_after_ledger() {
  auto record = node_->begin_ledger_write(net::read_now());
  if (!record) return;
  const auto written = std::make_shared<Status>(Done{});
  ledger_write_.emplace(
      loop_,
      [this, written, record = std::move(*record)] {
        if (folder_) *written = folder_->write_record(record);
      },
      [this, written, began = now()] {
        ++ledger_writes_.ended;
        if (!*written) ++ledger_writes_.failed;
        ledger_writes_.took += now() - began;
        node_->end_ledger_write(*written, net::read_now());
      });
}

void NodeRun::stop() {
  if (server_ != nullptr) server_->stop();
}

void NodeRun::tell_start() {
  log_.log(is_loss(decision_.cause) ? LogLevel::warning : LogLevel::notice, decision_.report);
  if (!decision_.warning.empty()) log_.log(LogLevel::warning, decision_.warning);
  for (const std::string& caution : cautions(settings_)) log_.log(LogLevel::warning, caution);
  log_.log(LogLevel::notice,
           fmt::format("redlock-node {} listens at {}; node {}, run {}", kRedlockVersion,
                       listeners_->addresses(), decision_.record.node_id, decision_.record.run));
}

Status NodeRun::finish() {
  if (!folder_) return Done{};
  const Instant copied_at = now();
  if (!node_->stop_request().value_or(StopRequest{}).save) {
    log_.log(LogLevel::notice, "stopped without a snapshot, as asked: the next start will wait");
    return Done{};
  }
  if (copied_at < node_->grants().snapshot_from()) {
    log_.log(LogLevel::notice,
             "stopped within the restart delay: no snapshot, the next start waits in full");
    return Done{};
  }
  auto written = folder_->write_snapshot(copied_at, [&](SnapshotWriter& snapshot) {
    node_->grants().save(
        copied_at, [&](const SavedLock& lock) { snapshot.add(lock); },
        [&](const SavedMark& mark) { snapshot.add(mark); });
  });
  if (!written) return written;
  log_.log(LogLevel::notice, "stopped cleanly: the locks are in the snapshot");
  return Done{};
}

}  // namespace redlock::server
