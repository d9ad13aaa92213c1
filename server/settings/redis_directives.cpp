#include "server/settings/redis_directives.h"

#include "base/text/words.h"

#include <algorithm>
#include <array>
#include <span>

namespace redlock::server {
namespace {

struct Group {
  std::string_view reason;
  std::span<const std::string_view> names;
};

constexpr std::array<std::string_view, 18> kPersistence = {"appendfilename",
                                                           "appenddirname",
                                                           "appendfsync",
                                                           "no-appendfsync-on-rewrite",
                                                           "auto-aof-rewrite-percentage",
                                                           "auto-aof-rewrite-min-size",
                                                           "aof-load-truncated",
                                                           "aof-use-rdb-preamble",
                                                           "aof-timestamp-enabled",
                                                           "aof-rewrite-incremental-fsync",
                                                           "aof-disable-auto-gc",
                                                           "rdbcompression",
                                                           "rdbchecksum",
                                                           "rdb-del-sync-files",
                                                           "rdb-save-incremental-fsync",
                                                           "dbfilename",
                                                           "stop-writes-on-bgsave-error",
                                                           "sanitize-dump-payload"};

constexpr std::array<std::string_view, 33> kReplication = {"replicaof",
                                                           "slaveof",
                                                           "masterauth",
                                                           "masteruser",
                                                           "replica-serve-stale-data",
                                                           "slave-serve-stale-data",
                                                           "replica-priority",
                                                           "slave-priority",
                                                           "replica-announced",
                                                           "replica-announce-ip",
                                                           "slave-announce-ip",
                                                           "replica-announce-port",
                                                           "slave-announce-port",
                                                           "replica-ignore-maxmemory",
                                                           "slave-ignore-maxmemory",
                                                           "replica-ignore-disk-write-errors",
                                                           "replica-lazy-flush",
                                                           "slave-lazy-flush",
                                                           "repl-diskless-sync",
                                                           "repl-diskless-sync-delay",
                                                           "repl-diskless-sync-max-replicas",
                                                           "repl-diskless-load",
                                                           "repl-ping-replica-period",
                                                           "repl-ping-slave-period",
                                                           "repl-timeout",
                                                           "repl-disable-tcp-nodelay",
                                                           "repl-backlog-size",
                                                           "repl-backlog-ttl",
                                                           "min-replicas-to-write",
                                                           "min-slaves-to-write",
                                                           "min-replicas-max-lag",
                                                           "min-slaves-max-lag",
                                                           "propagation-error-behavior"};

constexpr std::array<std::string_view, 19> kCluster = {"cluster-config-file",
                                                       "cluster-node-timeout",
                                                       "cluster-port",
                                                       "cluster-migration-barrier",
                                                       "cluster-replica-validity-factor",
                                                       "cluster-slave-validity-factor",
                                                       "cluster-require-full-coverage",
                                                       "cluster-replica-no-failover",
                                                       "cluster-slave-no-failover",
                                                       "cluster-allow-reads-when-down",
                                                       "cluster-allow-pubsubshard-when-down",
                                                       "cluster-allow-replica-migration",
                                                       "cluster-announce-ip",
                                                       "cluster-announce-port",
                                                       "cluster-announce-tls-port",
                                                       "cluster-announce-bus-port",
                                                       "cluster-announce-hostname",
                                                       "cluster-preferred-endpoint-type",
                                                       "cluster-link-sendbuf-limit"};

constexpr std::array<std::string_view, 37> kMemory = {"maxmemory-samples",
                                                      "maxmemory-eviction-tenacity",
                                                      "maxmemory-clients",
                                                      "active-expire-effort",
                                                      "lfu-log-factor",
                                                      "lfu-decay-time",
                                                      "lazyfree-lazy-eviction",
                                                      "lazyfree-lazy-expire",
                                                      "lazyfree-lazy-server-del",
                                                      "lazyfree-lazy-user-del",
                                                      "lazyfree-lazy-user-flush",
                                                      "activerehashing",
                                                      "activedefrag",
                                                      "active-defrag-ignore-bytes",
                                                      "active-defrag-threshold-lower",
                                                      "active-defrag-threshold-upper",
                                                      "active-defrag-cycle-min",
                                                      "active-defrag-cycle-max",
                                                      "active-defrag-max-scan-fields",
                                                      "jemalloc-bg-thread",
                                                      "hash-max-listpack-entries",
                                                      "hash-max-ziplist-entries",
                                                      "hash-max-listpack-value",
                                                      "hash-max-ziplist-value",
                                                      "list-max-listpack-size",
                                                      "list-max-ziplist-size",
                                                      "list-max-ziplist-entries",
                                                      "list-max-ziplist-value",
                                                      "list-compress-depth",
                                                      "set-max-intset-entries",
                                                      "zset-max-listpack-entries",
                                                      "zset-max-ziplist-entries",
                                                      "zset-max-listpack-value",
                                                      "zset-max-ziplist-value",
                                                      "hll-sparse-max-bytes",
                                                      "stream-node-max-bytes",
                                                      "stream-node-max-entries"};

constexpr std::array<std::string_view, 24> kProcess = {"hz",
                                                       "dynamic-hz",
                                                       "io-threads",
                                                       "io-threads-do-reads",
                                                       "server_cpulist",
                                                       "bio_cpulist",
                                                       "aof_rewrite_cpulist",
                                                       "bgsave_cpulist",
                                                       "oom-score-adj",
                                                       "oom-score-adj-values",
                                                       "disable-thp",
                                                       "set-proc-title",
                                                       "proc-title-template",
                                                       "always-show-logo",
                                                       "crash-log-enabled",
                                                       "crash-memcheck-enabled",
                                                       "syslog-enabled",
                                                       "syslog-ident",
                                                       "syslog-facility",
                                                       "locale-collate",
                                                       "ignore-warnings",
                                                       "shutdown-timeout",
                                                       "shutdown-on-sigint",
                                                       "shutdown-on-sigterm"};

constexpr std::array<std::string_view, 9> kCommands = {"loadmodule",
                                                       "enable-module-command",
                                                       "enable-protected-configs",
                                                       "tracking-table-max-keys",
                                                       "latency-tracking-info-percentiles",
                                                       "bind-source-addr",
                                                       "socket-mark-id",
                                                       "client-query-buffer-limit",
                                                       "proto-max-bulk-len"};

constexpr std::array<std::string_view, 8> kTls = {
    "tls-replication",           "tls-cluster",
    "tls-client-cert-file",      "tls-client-key-file",
    "tls-client-key-file-pass",  "tls-session-cache-size",
    "tls-session-cache-timeout", "tls-dh-params-file"};

constexpr std::array kGroups = {
    Group{"a node dials nobody, keeps no sessions (clients keep tickets), and chooses DH groups by "
          "itself",
          kTls},
    Group{"locks are kept by the ledger and the snapshot of the node's own", kPersistence},
    Group{"a node has no replicas: five nodes of their own stand in for them", kReplication},
    Group{"nodes know nothing of each other", kCluster},
    Group{"a lock is one small record, freed at its deadline and never evicted", kMemory},
    Group{"a node is one thread in the foreground, and its loop has no ticks", kProcess},
    Group{"the commands or connections that it is about are not served here", kCommands},
};

// Who may come in, and what they may do. The default of each leaves nothing open.
struct Guard {
  std::string_view name;
  std::string_view harmless;  // the one value that asks for nothing
  std::string_view reason;
};

constexpr std::array kGuards = {
    Guard{"acl-pubsub-default", "resetchannels",
          "a new user hears no channel, as in Redis 7; say allchannels, or &CHANNEL, in its rules"},
    Guard{"rename-command", "",
          "commands are not renamed; take them from users instead, as in 'user default -flushall'"},
};

bool has_name(std::span<const std::string_view> names, std::string_view name) {
  return std::any_of(names.begin(), names.end(),
                     [&](std::string_view each) { return equals_ignoring_case(each, name); });
}

}  // namespace

RedisDirective redis_directive(std::string_view name, const std::vector<std::string>& words) {
  using Treatment = RedisDirective::Treatment;
  for (const Guard& guard : kGuards) {
    if (!equals_ignoring_case(guard.name, name)) continue;
    const bool harmless = words.size() == 1 && words[0] == guard.harmless;
    return {harmless ? Treatment::does_nothing : Treatment::refused,
            harmless ? "it is as it is here" : guard.reason};
  }
  for (const Group& group : kGroups) {
    if (has_name(group.names, name)) return {Treatment::does_nothing, group.reason};
  }
  return {};
}

}  // namespace redlock::server
