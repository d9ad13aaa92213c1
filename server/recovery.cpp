#include "server/recovery.h"

#include "base/duration_text.h"

#include <algorithm>

#include <fmt/format.h>

namespace redlock::server {
namespace {

constexpr Duration kSpare = 1s;

RestartCause cause_of_ledger(const LedgerContent& ledger, const Settings& settings) {
  switch (ledger.state) {
    case LedgerState::missing:
      return RestartCause::ledger_missing;
    case LedgerState::unfinished:
      return RestartCause::ledger_unfinished;
    case LedgerState::damaged:
      return RestartCause::ledger_damaged;
    case LedgerState::unknown_version:
      return RestartCause::ledger_unknown_version;
    case LedgerState::valid:
      break;
  }
  if (!settings.node_id.empty() && settings.node_id != ledger.record.node_id) {
    return RestartCause::ledger_of_another_node;
  }
  return ledger.record.run == 0 ? RestartCause::bootstrapped : RestartCause::crash;
}

bool is_unknown(RestartCause cause) {
  return cause >= RestartCause::ledger_missing;
}

// Why a snapshot that lies in the folder cannot be used; empty when it can.
std::string snapshot_trouble(const SnapshotContent& snapshot, const DurableRecord& record) {
  if (snapshot.state == SnapshotContent::State::damaged) {
    return fmt::format("the snapshot is damaged: {}", snapshot.trouble);
  }
  if (snapshot.header.node_id != record.node_id) {
    return fmt::format("the snapshot is of another node, {}", snapshot.header.node_id);
  }
  if (snapshot.header.run != record.run) {
    return fmt::format("the snapshot is of run {}, not of the last, {}", snapshot.header.run,
                       record.run);
  }
  return "";
}

// An instant of the copy that lies ahead of the clock contradicts the same boot.
Restoration restoration_of(const Found& found, Instant start) {
  const SnapshotHeader& header = found.snapshot.header;
  const bool same = is_same_boot(header.boot, found.boot) && header.copied_at <= start;
  return {.same_boot = same, .copied_at = header.copied_at, .start = start};
}

Duration longest_time_left(const SnapshotContent& snapshot, const Restoration& restoration) {
  const auto latest = restoration.deadline(snapshot.latest_deadline);
  return latest ? *latest - restoration.start : 0ns;
}

// The largest TTL that a crash of the run that now starts will have to be waited for. Only a start
// from a snapshot may lower it: there, no lock is unaccounted for. All others keep what they found,
// also what could be read of a ledger that is not trusted in anything else; so neither a second
// crash nor a lowered max-ttl ever shortens a delay (rule R3).
Duration largest_ttl_of_run(const Found& found, const Decision& decision, Duration max_ttl) {
  if (decision.restoration) {
    return std::max(max_ttl, longest_time_left(found.snapshot, *decision.restoration));
  }
  return std::max(max_ttl, found.ledger.record.largest_ttl);
}

DurableRecord record_of_run(const Found& found, const Settings& settings, const Decision& decision,
                            std::string_view fresh_node_id) {
  DurableRecord record;
  if (is_unknown(decision.cause)) {
    record.node_id = settings.node_id.empty() ? fresh_node_id : settings.node_id;
  } else {
    record = found.ledger.record;
  }
  record.run += 1;
  record.largest_ttl = largest_ttl_of_run(found, decision, settings.max_ttl);
  return record;
}

// The TTL whose locks the table waits for; nullopt: no wait.
std::optional<Duration> awaited_ttl(const Found& found, const Settings& settings,
                                    RestartCause cause) {
  const Duration recorded = found.ledger.record.largest_ttl;
  if (is_unknown(cause)) return std::max(settings.max_ttl, recorded);
  if (cause == RestartCause::crash) return recorded;
  return std::nullopt;
}

// restart-delay speaks of a start without a snapshot; a bootstrapped node has nothing to wait for.
Duration delay_in_force(const RestartDelay& setting, const Decision& decision) {
  const bool is_wait = decision.cause == RestartCause::crash || is_unknown(decision.cause);
  if (!is_wait || setting.mode == RestartDelay::Mode::by_facts) return decision.table_delay;
  return setting.mode == RestartDelay::Mode::off ? 0ns : setting.fixed;
}

// Told at each start, also one that need not wait: what is too short for a crash of the run that
// begins is told while there is time to change it.
std::string warning_of(const Settings& settings, const Decision& decision) {
  const RestartDelay& setting = settings.restart_delay;
  if (setting.mode == RestartDelay::Mode::by_facts) return "";
  const Duration safe =
      std::max(decision.table_delay, full_delay(decision.record.largest_ttl, settings.clock_drift));
  const bool is_off = setting.mode == RestartDelay::Mode::off;
  if (!is_off && setting.fixed >= safe) return "";
  return fmt::format(
      "restart-delay {} is not safe: after a crash, locks of this node can be held for {} more, "
      "and "
      "it would grant them again (restart-delay auto waits as long as needed)",
      is_off ? "off" : duration_text(setting.fixed), spoken_duration(safe));
}

std::string finding_text(const Found& found, const Settings& settings, RestartCause cause) {
  const std::string& folder = found.folder;
  switch (cause) {
    case RestartCause::clean_stop:
      return fmt::format("Run {} stopped cleanly and left {} lock{}", found.snapshot.header.run,
                         found.snapshot.locks, found.snapshot.locks == 1 ? "" : "s");
    case RestartCause::crash:
      return fmt::format("Run {} left no snapshot to start from", found.ledger.record.run);
    case RestartCause::bootstrapped:
      return "First run of a bootstrapped node: no lock can be live";
    case RestartCause::ledger_missing:
      return fmt::format("No ledger in {}: what this node granted before is not known", folder);
    case RestartCause::ledger_unfinished:
      return fmt::format(
          "The ledger in {} was never written: what this node granted before is not "
          "known",
          folder);
    case RestartCause::ledger_damaged:
      return fmt::format("The ledger in {} is damaged", folder);
    case RestartCause::ledger_unknown_version:
      return fmt::format("The ledger in {} is of a version that this program does not know",
                         folder);
    case RestartCause::ledger_of_another_node:
      return fmt::format("The ledger in {} is that of node {}, and node-id names {}", folder,
                         found.ledger.record.node_id, settings.node_id);
  }
  return "";
}

std::string restoring_text(const Restoration& restoration) {
  return restoration.same_boot
             ? "those still live come back with their deadlines; no delay."
             : "each comes back with the full time that it had left, as this is another boot; no "
               "delay.";
}

std::string waiting_text(const Settings& settings, const Decision& decision, Duration awaited) {
  const std::string reason = fmt::format("{} {} × {} + 1 s",
                                         is_unknown(decision.cause) && awaited == settings.max_ttl
                                             ? "max-ttl"
                                             : "the largest TTL granted",
                                         duration_text(awaited), 1 + settings.clock_drift);
  switch (settings.restart_delay.mode) {
    case RestartDelay::Mode::by_facts:
      return fmt::format(
          "No new locks for {} ({}), until every lock that it may have granted has run out.",
          spoken_duration(decision.delay), reason);
    case RestartDelay::Mode::off:
      return fmt::format("It grants at once, as restart-delay is off; safe were {} ({}).",
                         spoken_duration(decision.table_delay), reason);
    case RestartDelay::Mode::fixed:
      return fmt::format("No new locks for {}, as restart-delay says; by the facts {} ({}).",
                         spoken_duration(decision.delay), spoken_duration(decision.table_delay),
                         reason);
  }
  return "";
}

// Only where nothing shows that the node ever ran: elsewhere the advice would be a dangerous one.
std::string bootstrap_advice(const Found& found, RestartCause cause) {
  if (cause != RestartCause::ledger_missing && cause != RestartCause::ledger_unfinished) return "";
  return fmt::format(
      " A new installation, where no lock can be live, need not wait: stop the node, remove {0}, "
      "and "
      "run redlock-node --bootstrap --dir {0} before its first start.",
      found.folder);
}

std::string report_of(const Found& found, const Settings& settings, const Decision& decision) {
  std::string text = finding_text(found, settings, decision.cause);
  if (decision.restoration) return text + "; " + restoring_text(*decision.restoration);
  const bool has_snapshot = found.snapshot.state != SnapshotContent::State::missing;
  if (has_snapshot && decision.cause == RestartCause::crash) {
    text += fmt::format(" ({})", snapshot_trouble(found.snapshot, found.ledger.record));
  }
  text += ". ";
  const auto awaited = awaited_ttl(found, settings, decision.cause);
  if (!awaited) return text + "No delay.";
  return text + waiting_text(settings, decision, *awaited) +
         bootstrap_advice(found, decision.cause);
}

}  // namespace

std::string_view restart_cause_name(RestartCause cause) {
  switch (cause) {
    case RestartCause::clean_stop:
      return "clean_stop";
    case RestartCause::crash:
      return "crash";
    case RestartCause::bootstrapped:
      return "bootstrapped";
    case RestartCause::ledger_missing:
      return "ledger_missing";
    case RestartCause::ledger_unfinished:
      return "ledger_unfinished";
    case RestartCause::ledger_damaged:
      return "ledger_damaged";
    case RestartCause::ledger_unknown_version:
      return "ledger_unknown_version";
    case RestartCause::ledger_of_another_node:
      return "ledger_of_another_node";
  }
  return "";
}

std::optional<Instant> Restoration::deadline(Instant saved) const {
  if (saved == kNever) return kNever;
  const Instant before = same_boot ? start : copied_at;
  if (saved <= before) return std::nullopt;
  return later(start, saved - before);
}

Duration full_delay(Duration largest_ttl, double clock_drift) {
  const Duration stretched = stretch(largest_ttl, clock_drift);
  return stretched > Duration::max() - kSpare ? Duration::max() : stretched + kSpare;
}

Decision decide(const Found& found, const Settings& settings, Instant start,
                std::string_view fresh_node_id) {
  Decision decision;
  decision.cause = cause_of_ledger(found.ledger, settings);
  if (decision.cause == RestartCause::crash &&
      found.snapshot.state != SnapshotContent::State::missing &&
      snapshot_trouble(found.snapshot, found.ledger.record).empty()) {
    decision.cause = RestartCause::clean_stop;
    decision.restoration = restoration_of(found, start);
  }
  if (const auto awaited = awaited_ttl(found, settings, decision.cause)) {
    decision.table_delay = full_delay(*awaited, settings.clock_drift);
  }
  decision.delay = delay_in_force(settings.restart_delay, decision);
  decision.grant_from = later(start, decision.delay);
  decision.snapshot_from = later(start, std::max(decision.delay, decision.table_delay));
  decision.record = record_of_run(found, settings, decision, fresh_node_id);
  decision.warning = warning_of(settings, decision);
  decision.report = report_of(found, settings, decision);
  return decision;
}

Decision decide_without_folder(const Settings& settings, Instant start,
                               std::string_view fresh_node_id) {
  Decision decision;
  decision.cause = RestartCause::bootstrapped;
  decision.grant_from = start;
  decision.snapshot_from = start;
  decision.record = {
      .node_id = settings.node_id.empty() ? std::string(fresh_node_id) : settings.node_id,
      .run = 1,
      .largest_ttl = settings.max_ttl,
      .fencing_bound = 0,
      .fenced = true};
  decision.report = "This node keeps no folder: it counts as new, no lock can be live. No delay.";
  return decision;
}

Status begin_run(const Decision& decision, LedgerWriter& ledger,
                 const std::function<Status()>& discard_snapshot) {
  const bool is_used = decision.restoration.has_value();
  if (!is_used) {
    if (auto discarded = discard_snapshot(); !discarded) return discarded;
  }
  if (auto written = ledger.write(decision.record); !written) return written;
  return is_used ? discard_snapshot() : Status(Done{});
}

}  // namespace redlock::server
