#include "server/metrics/node_metrics.h"

#include "base/version.h"

#include <map>
#include <string_view>

namespace redlock::server {
namespace {

void tell_identity(MetricsText& text, const Node& node) {
  text.gauge("node_info", "Which node it is: always 1.");
  text.sample({{"version", kRedlockVersion},
               {"node_id", node.start().node_id},
               {"run_id", node.start().run_id}},
              1);
  text.counter("runs_total", "Starts with this ledger.", node.start().run);
}

// The two questions of an operator: does it grant, and if not, for how long.
void tell_state(MetricsText& text, const Node& node, Instant now) {
  const Grants& grants = node.grants();
  const bool is_recovering = grants.is_recovering(now);
  text.gauge("state", "1 at the state that the node is in: serving, or recovering after a start.");
  text.sample({{"state", "serving"}}, is_recovering ? 0 : 1);
  text.sample({{"state", "recovering"}}, is_recovering ? 1 : 0);
  text.gauge("delay_left_seconds", "Until a recovering node grants locks.", grants.delay_left(now));
  text.gauge("max_ttl_seconds", "The longest TTL that the node grants.", node.settings().max_ttl);
  text.gauge("largest_ttl_seconds", "The longest TTL that a start after a crash waits for.",
             node.ledger().largest_ttl());
  text.gauge("clock_sound", "1 while the clock only goes forward; else the node grants nothing.",
             grants.clock().is_sound() ? 1 : 0);
  text.gauge("roster_epoch", "Of the group's roster that the node goes by; 0: none.",
             node.membership().record().current.epoch);
}

void tell_locks(MetricsText& text, const Node& node, WallTime now) {
  const Stats& stats = node.stats();
  text.gauge("locks", "Locks that are held.", node.locks().size());
  text.counter("granted_total", "Locks that were granted.", stats.granted);
  text.counter("refused_held_total", "Refusals, as another holds the lock.", stats.refused_held);
  text.counter("refused_recovering_total", "Refusals, as the node recovers after a start.",
               stats.refused_recovering);
  text.counter("extended_total", "Locks that were extended.", stats.extended);
  text.counter("released_total", "Locks that were released.", stats.released);
  text.counter("expired_total", "Locks that ran out.", node.locks().expired());
  const Waiters::Summary lines = node.waiters().summary();
  text.gauge("waiters", "Clients' waits for locks.", node.waiters().count());
  text.gauge("longest_line", "How many wait for one lock, at most.", lines.longest);
  text.gauge("oldest_wait_seconds", "For how long who came first waits, by its own word.",
             lines.oldest_wait(now));
  text.gauge("reclaim_lag_seconds", "From the end of the lock given back last to that moment.",
             stats.reclaim_lag);
}

void tell_tokens(MetricsText& text, const Node& node) {
  const Fence& fence = node.grants().fence();
  text.gauge("fenced", "1 if the node has its part in fencing tokens.", fence.is_fenced() ? 1 : 0);
  text.gauge("fence_largest", "The largest fencing token that the node knows.", fence.largest());
  text.gauge("fence_bound", "What no counter passes, as the disk has it.", fence.bound());
}

void tell_ledger(MetricsText& text, const Node& node, const LedgerWrites& writes, Instant now) {
  text.gauge("ledger_ok", "1 while the ledger takes what is granted; else the node grants nothing.",
             node.ledger().refusal(now) ? 0 : 1);
  text.counter("ledger_writes_total", "Durable writes of the ledger.", writes.ended);
  text.counter("ledger_write_failures_total", "Of them those that failed.", writes.failed);
  text.counter("ledger_write_seconds_total", "The time that they took.", writes.took);
}

void tell_memory(MetricsText& text, const Node& node) {
  text.gauge("memory_bytes", "What maxmemory is compared with: locks, scripts, wishes of clients.",
             node.used_memory());
  text.gauge("maxmemory_bytes", "Above it no lock is granted; 0: no bound.",
             node.settings().maxmemory);
}

}  // namespace

void tell_sessions(MetricsText& text, const Node& node) {
  const Stats& stats = node.stats();
  text.gauge("clients", "Connections.", node.sessions().all().size());
  text.counter("connections_total", "Connections that came.", stats.connections_received);
  text.counter("connections_rejected_total", "Connections that were refused.",
               stats.connections_rejected);
  std::map<std::string_view, std::uint64_t> calls;
  for (const CommandTable::Entry& entry : node.commands().entries()) {
    calls[entry.command->spec.group] += entry.stats.calls;
  }
  text.counter("commands_total", "Commands executed, those of scripts among them, by family.");
  for (const auto& [family, count] : calls) text.sample({{"family", family}}, count);
  text.counter("error_replies_total", "Replies that were errors.", stats.error_replies);
  text.counter("audit_lines_lost_total", "Lines that the audit's file did not take.",
               node.audit().lines_lost());
}

void tell_certificate(MetricsText& text, const net::TlsServer* tls) {
  if (tls == nullptr) return;
  text.gauge("certificate_end_time_seconds",
             "When the certificate that clients are shown expires, in seconds since 1970.",
             tls->certificate_ends_at());
}

void tell_process(MetricsText& text, const Node& node, Now now) {
  const Duration up_for = now.monotonic - node.start().started_at;
  text.gauge("start_time_seconds", "When it started, in seconds since 1970.",
             now.wall.time_since_epoch() - up_for);
  const ProcessFacts process = node.inspect_process();
  text.counter("cpu_seconds_total", "CPU time of the process.",
               process.cpu_user_seconds + process.cpu_system_seconds);
  text.gauge("resident_memory_bytes", "Resident memory of the process.", process.resident_bytes);
}

std::string metrics_text(const Node& node, const LedgerWrites& writes, const net::TlsServer* tls,
                         Now now) {
  MetricsText text("redlock");
  tell_identity(text, node);
  tell_state(text, node, node.instant_to_look_at(now.monotonic));
  tell_locks(text, node, now.wall);
  tell_tokens(text, node);
  tell_ledger(text, node, writes, node.instant_to_look_at(now.monotonic));
  tell_sessions(text, node);
  tell_memory(text, node);
  tell_certificate(text, tls);
  tell_process(text, node, now);
  return std::move(text).str();
}

}  // namespace redlock::server
