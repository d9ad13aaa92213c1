#include "server/commands/info.h"

#include "base/text/info_text.h"
#include "base/text/words.h"
#include "base/version.h"
#include "server/node/node.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

namespace redlock::server {
namespace {

// What a section's function sees, and tells.
class Section {
 public:
  Section(Node& of_node, const ProcessFacts& of_process, Now at)
      : node(of_node), process(of_process), now(at) {}

  Node& node;
  const ProcessFacts& process;
  Now now;
  InfoText text;

  void field(std::string_view name, const auto& value) { text.field(name, value); }
};

// "1.50M", as Redis's *_human fields.
std::string human_bytes(std::uint64_t bytes) {
  constexpr std::string_view kUnits = "BKMGT";
  auto amount = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (amount >= 1024 && unit + 1 < kUnits.size()) {
    amount /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{}B", bytes) : fmt::format("{:.2f}{}", amount, kUnits[unit]);
}

std::int64_t seconds_up(const Section& s) {
  return (s.now.monotonic - s.node.start().started_at) / std::chrono::seconds(1);
}

void server_section(Section& s) {
  s.field("redis_version", kRedisVersion);
  s.field("redlock_version", kRedlockVersion);
  s.field("redis_mode", "standalone");
  s.field("os", s.process.os);
  s.field("arch_bits", sizeof(void*) * 8);
  s.field("multiplexing_api", "epoll");
  s.field("gcc_version", s.process.compiler);
  s.field("process_id", s.process.pid);
  s.field("run_id", s.node.start().run_id);
  s.field("tcp_port", s.process.port);
  const auto wall = s.now.wall.time_since_epoch();
  s.field("server_time_usec", std::chrono::floor<std::chrono::microseconds>(wall).count());
  s.field("uptime_in_seconds", seconds_up(s));
  s.field("uptime_in_days", seconds_up(s) / 86'400);
  s.field("executable", s.process.executable);
  s.field("config_file", s.process.config_file);
  s.field("node_id", s.node.start().node_id);
}

void clients_section(Section& s) {
  const auto& sessions = s.node.sessions().all();
  const auto waiting = std::count_if(sessions.begin(), sessions.end(),
                                     [](const auto& entry) { return entry.second->is_waiting(); });
  s.field("connected_clients", sessions.size());
  s.field("maxclients", s.node.settings().maxclients);
  s.field("blocked_clients", waiting);
}

std::size_t clients_memory(const Section& s) {
  const auto& sessions = s.node.sessions().all();
  return std::accumulate(
      sessions.begin(), sessions.end(), std::size_t{0},
      [](std::size_t sum, const auto& entry) { return sum + entry.second->memory_bytes(); });
}

// What the process has of the system, against what it asked of its heap.
void fragmentation(Section& s, std::uint64_t used) {
  const std::uint64_t resident = s.process.resident_bytes;
  const auto ratio = static_cast<double>(resident) / static_cast<double>(std::max(used, 1ul));
  s.field("mem_fragmentation_ratio", fmt::format("{:.2f}", ratio));
  s.field("mem_fragmentation_bytes",
          static_cast<std::int64_t>(resident) - static_cast<std::int64_t>(used));
}

// used_memory is what maxmemory is compared with: locks, scripts, and what is kept of clients'
// wishes. Their requests and answers are mem_clients_normal, which maxmemory-clients bounds.
void memory_section(Section& s) {
  const std::uint64_t used = s.node.used_memory();
  const std::uint64_t peak = s.node.peak_memory();
  s.field("used_memory", used);
  s.field("used_memory_human", human_bytes(used));
  s.field("used_memory_peak", peak);
  s.field("used_memory_peak_human", human_bytes(peak));
  s.field("used_memory_rss", s.process.resident_bytes);
  s.field("used_memory_rss_human", human_bytes(s.process.resident_bytes));
  s.field("used_memory_locks", s.node.locks().bytes());
  s.field("used_memory_lua", s.node.scripts().engine().memory_bytes());
  s.field("number_of_cached_scripts", s.node.scripts().engine().script_count());
  s.field("used_memory_overhead", used - std::min(used, s.node.locks().bytes()));
  s.field("used_memory_dataset", s.node.locks().bytes());
  s.field("mem_clients_normal", clients_memory(s));
  s.field("total_system_memory", s.process.system_memory_bytes);
  s.field("maxmemory", s.node.settings().maxmemory);
  s.field("maxmemory_human", human_bytes(s.node.settings().maxmemory));
  s.field("maxmemory_policy", "noeviction");
  s.field("mem_allocator", "libc");
  if (!s.process.heap_bytes) return;
  s.field("used_memory_heap", *s.process.heap_bytes);
  fragmentation(s, *s.process.heap_bytes);
}

// A node keeps no data on disk; clients wait while `loading` is 1, so it is 0 while recovering too.
void persistence_section(Section& s) {
  s.field("loading", 0);
  s.field("rdb_bgsave_in_progress", 0);
  s.field("aof_enabled", 0);
}

void stats_section(Section& s) {
  const Stats& stats = s.node.stats();
  const RecentRates::Counts lately = s.node.recent_rates(s.now.monotonic);
  const auto kilobytes = [](std::uint64_t bytes) { return static_cast<double>(bytes) / 1024; };
  s.field("total_connections_received", stats.connections_received);
  s.field("total_commands_processed", stats.commands_processed);
  s.field("instantaneous_ops_per_sec", lately.commands);
  s.field("total_net_input_bytes", stats.bytes_in);
  s.field("total_net_output_bytes", stats.bytes_out);
  s.field("instantaneous_input_kbps", fmt::format("{:.2f}", kilobytes(lately.bytes_in)));
  s.field("instantaneous_output_kbps", fmt::format("{:.2f}", kilobytes(lately.bytes_out)));
  s.field("rejected_connections", stats.connections_rejected);
  s.field("expired_keys", s.node.locks().expired());
  s.field("evicted_keys", 0);
  s.field("evicted_clients", stats.clients_evicted);
  s.field("keyspace_hits", stats.hits);
  s.field("keyspace_misses", stats.misses);
  s.field("pubsub_channels", s.node.pubsub().count(PubSub::Kind::channel));
  s.field("pubsub_patterns", s.node.pubsub().count(PubSub::Kind::pattern));
  s.field("pubsubshard_channels", s.node.pubsub().count(PubSub::Kind::shard_channel));
  s.field("total_error_replies", stats.error_replies);
  s.field("acl_access_denied_auth", stats.passwords_refused);
  const protocol::AccessLog& log = s.node.access().log();
  s.field("acl_access_denied_cmd", log.refused(protocol::AccessLog::Reason::command));
  s.field("acl_access_denied_key", log.refused(protocol::AccessLog::Reason::key));
  s.field("acl_access_denied_channel", log.refused(protocol::AccessLog::Reason::channel));
  s.field("unauthenticated_closed", stats.newcomers_closed);
  s.field("audit_lines_lost", s.node.audit().lines_lost());
}

void replication_section(Section& s) {
  s.field("role", "master");
  s.field("connected_slaves", 0);
}

void cpu_section(Section& s) {
  s.field("used_cpu_sys", fmt::format("{:.6f}", s.process.cpu_system_seconds));
  s.field("used_cpu_user", fmt::format("{:.6f}", s.process.cpu_user_seconds));
  s.field("used_cpu_sys_main_thread", fmt::format("{:.6f}", s.process.thread_system_seconds));
  s.field("used_cpu_user_main_thread", fmt::format("{:.6f}", s.process.thread_user_seconds));
}

// Tools take the values by their places. A command that is not timed (server/observe/observers.h)
// has no microseconds; usec_per_call is of the calls that were timed.
void commandstats_section(Section& s) {
  const auto& histograms = s.node.observers().histograms();
  for (const auto& [command, number, is_container, stats] : s.node.commands().entries()) {
    if (stats.calls == 0 && stats.rejected == 0) continue;
    const auto timed = histograms.find(command->spec.name);
    const bool is_timed = timed != histograms.end();
    const double took_us = is_timed ? static_cast<double>(timed->second.total() / 1ns) / 1e3 : 0;
    const double calls = is_timed ? static_cast<double>(timed->second.calls()) : 1;
    s.field(fmt::format("cmdstat_{}", command->spec.name),
            fmt::format("calls={},usec={:.0f},usec_per_call={:.2f},rejected_calls={},"
                        "failed_calls={}",
                        stats.calls, took_us, took_us / calls, stats.rejected, stats.failed));
  }
}

void errorstats_section(Section& s) {
  for (const auto& [word, count] : s.node.stats().errors) {
    s.field(fmt::format("errorstat_{}", word), fmt::format("count={}", count));
  }
}

void cluster_section(Section& s) {
  s.field("cluster_enabled", 0);
}

void keyspace_section(Section& s) {
  const std::size_t keys = s.node.locks().size();
  if (keys == 0) return;
  s.field("db0", fmt::format("keys={},expires={},avg_ttl=0", keys,
                             keys - s.node.locks().without_deadline()));
}

void locks_section(Section& s) {
  const Stats& stats = s.node.stats();
  s.field("held", s.node.locks().size());
  s.field("granted", stats.granted);
  s.field("refused_held", stats.refused_held);
  s.field("released", stats.released);
  s.field("expired", s.node.locks().expired());
  s.field("extended", stats.extended);
  s.field("max_ttl_granted_ms", ceil_ms(stats.max_ttl_granted));
  s.field("ttl_imposed", stats.ttl_imposed);
  s.field("without_ttl", s.node.locks().without_deadline());
  s.field("reclaim_lag_us",
          std::chrono::ceil<std::chrono::microseconds>(stats.reclaim_lag).count());
  const Waiters::Summary lines = s.node.waiters().summary();
  s.field("waiters", s.node.waiters().count());
  s.field("waited_for", lines.lines);
  s.field("longest_line", lines.longest);
  s.field("oldest_wait_ms", ceil_ms(lines.oldest_wait(s.now.wall)));
  s.field("release_marks", s.node.grants().release_marks().size());
}

void restart_section(Section& s) {
  const NodeStart& start = s.node.start();
  s.field("state", s.node.grants().is_recovering(s.now.monotonic) ? "recovering" : "serving");
  s.field("cause", start.cause);
  s.field("warning", start.warning);
  s.field("delay_left_ms", ceil_ms(s.node.grants().delay_left(s.now.monotonic)));
  s.field("delay_ms", ceil_ms(start.delay));
  s.field("refused", s.node.stats().refused_recovering);
  s.field("run", start.run);
  s.field("ledger", s.node.ledger().refusal(s.now.monotonic).value_or("ok"));
  s.field("largest_ttl_ms", ceil_ms(s.node.ledger().largest_ttl()));
}

void fencing_section(Section& s) {
  const Fence& fence = s.node.grants().fence();
  s.field("counter", fence.largest());
  s.field("bound", fence.bound());
  s.field("fenced", fence.is_fenced() ? 1 : 0);
}

// Locks that were granted to clients which name no roster: what group they mean, nobody knows.
void group_section(Section& s) {
  const Membership& membership = s.node.membership();
  const RosterRecord& known = membership.record();
  s.field("epoch", known.current.epoch);
  s.field("standing", Membership::standing_name(membership.standing()));
  s.field("members", known.current.members.size());
  s.field("change_under_way", known.has_accepted() ? 1 : 0);
  s.field(
      "granted_without_epoch",
      s.node.stats().granted - std::min(s.node.stats().granted, s.node.stats().granted_in_group));
}

void clock_section(Section& s) {
  s.field("source", "CLOCK_MONOTONIC");
  s.field("clock_state", s.node.grants().clock().text());
  s.field("drift", fmt::to_string(s.node.settings().clock_drift));
}

struct Entry {
  std::string_view title;
  void (*write)(Section&);
  bool by_default = true;
};

constexpr Entry kSections[] = {
    {"Server", server_section},
    {"Clients", clients_section},
    {"Memory", memory_section},
    {"Persistence", persistence_section},
    {"Stats", stats_section},
    {"Replication", replication_section},
    {"CPU", cpu_section},
    {"Commandstats", commandstats_section, false},
    {"Errorstats", errorstats_section},
    {"Cluster", cluster_section},
    {"Keyspace", keyspace_section},
    {"Locks", locks_section},
    {"Restart", restart_section},
    {"Fencing", fencing_section},
    {"Group", group_section},
    {"Clock", clock_section},
};

bool is_wanted(const Entry& entry, protocol::Request sections) {
  if (sections.empty()) return entry.by_default;
  return std::any_of(sections.begin(), sections.end(), [&](std::string_view name) {
    if (equals_ignoring_case(name, "default")) return entry.by_default;
    return equals_ignoring_case(name, "all") || equals_ignoring_case(name, "everything") ||
           equals_ignoring_case(name, entry.title);
  });
}

}  // namespace

std::string info_text(Node& node, protocol::Request sections, Now now) {
  const ProcessFacts process = node.inspect_process();
  Section section(node, process, now);
  for (const Entry& entry : kSections) {
    if (!is_wanted(entry, sections)) continue;
    section.text.begin(entry.title);
    entry.write(section);
  }
  return section.text.take();
}

}  // namespace redlock::server
