// Settings: what an operator decides, with the defaults that suit the first minutes.
//
// Read from a file, standard input and flags (configuration.h); each is described for operators in
// config/redlock-node.conf. Names are Redis's wherever the meaning is the same.
#pragma once

#include "base/log.h"
#include "base/time.h"
#include "server/settings/event_flags.h"
#include "server/settings/output_limit.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::server {

// restart-delay: `auto` follows the table of rule R; `off` and a duration replace what it says for
// a start without a snapshot.
struct RestartDelay {
  enum class Mode { by_facts, off, fixed };

  Mode mode = Mode::by_facts;
  Duration fixed{};

  friend bool operator==(const RestartDelay&, const RestartDelay&) = default;
};

// restart-reply: what a recovering node says to SET … NX (rule R10).
enum class RestartReply { error, held };

// audit: nowhere, among the log's lines, or else in a file of its own.
inline constexpr std::string_view kNoAudit = "no";
inline constexpr std::string_view kAuditInLog = "log";
enum class AuditFormat { text, json };

struct Settings {
  // Where it listens.
  std::uint16_t port = 6379;                              // 0: no TCP
  std::vector<std::string> bind = {"127.0.0.1", "-::1"};  // a leading '-': may be missing
  int tcp_backlog = 511;
  std::string unixsocket;
  std::uint32_t unixsocketperm = 0;  // 0: as the umask has it
  Duration timeout{};                // 0: idle clients stay
  Duration tcp_keepalive = 300s;     // 0: none
  std::uint32_t maxclients = 10000;
  std::uint16_t metrics_port = 0;  // of the same addresses; 0: none

  // TLS: as Redis has it, with a port of its own at the same addresses.
  std::uint16_t tls_port = 0;  // 0: none
  std::string tls_cert_file;
  std::string tls_key_file;
  std::string tls_key_file_pass;
  std::string tls_ca_cert_file;  // who signs clients' certificates
  std::string tls_ca_cert_dir;
  enum class TlsClients { no, yes, optional } tls_auth_clients = TlsClients::yes;
  // Whether a client's certificate stands for the user whose name is its common name.
  enum class TlsUsers { off, common_name } tls_auth_clients_user = TlsUsers::off;
  std::string tls_protocols;     // "": TLSv1.2 and TLSv1.3
  std::string tls_ciphers;       // of TLS 1.2; "": those that are safe
  std::string tls_ciphersuites;  // of TLS 1.3; "": OpenSSL's
  bool tls_prefer_server_ciphers = false;
  bool tls_session_caching = true;
  bool metrics_tls = false;  // metrics-port speaks it as well

  // Who may speak.
  bool protected_mode = true;
  std::string requirepass;
  std::string requirepass_file;    // whose first line became requirepass at the start
  std::string aclfile;             // "": users are those of the configuration
  std::vector<std::string> users;  // its lines: "user NAME rules"
  std::uint64_t acllog_max_len = 128;

  // Locks (rules L1, L2, C1).
  Duration max_ttl = 65s;
  bool require_ttl = true;
  bool hold_strict = false;  // a held lock is changed by its value alone (lock_breaks.h)
  double clock_drift = 0.01;
  std::uint64_t maxmemory = 0;  // bytes; 0: no bound
  // Of a value; the fields of a hash are one together. Holders' names take some hundred bytes.
  std::uint64_t value_size_limit = 64 * 1024;

  // Restarts (rules R).
  std::string dir;      // "": ./redlock-node-PORT
  std::string node_id;  // "": the ledger's, or made with it
  RestartDelay restart_delay;
  RestartReply restart_reply = RestartReply::error;

  // How long whoever waits for a lock and is called has it for itself (rule Q7).
  Duration wake_next_after = 10ms;

  // Fencing tokens (rule F1): how many numbers a start, and each raise after it, takes at once.
  std::uint64_t fence_block = 1'048'576;

  // Scripts.
  Duration busy_reply_threshold = 20ms;
  Duration script_time_limit = 5s;
  std::uint64_t script_memory_limit = 16 * 1024 * 1024;
  std::uint64_t script_size_limit = 64 * 1024;

  // Which scripts EVAL and EVALSHA run: `known` are those of the lock libraries, and what an
  // operator has loaded.
  enum class EvalScripts { all, known } eval_scripts = EvalScripts::all;

  // Which keyspace events are told over pub/sub; 0: none.
  EventFlags notify_keyspace_events = 0;

  // DEBUG: whether it is served, or from this machine alone.
  enum class DebugCommand { no, local, yes } enable_debug_command = DebugCommand::no;

  // What is remembered of commands that took long.
  std::int64_t slowlog_log_slower_than = 10'000;  // microseconds; 0: all, negative: none
  std::uint64_t slowlog_max_len = 128;            // entries
  std::int64_t latency_monitor_threshold = 0;     // milliseconds; 0: no events
  bool latency_tracking = true;                   // histograms

  // Who did what others have to answer for (server/observe/audit.h): kNoAudit, kAuditInLog, a path.
  std::string audit = std::string(kNoAudit);
  AuditFormat audit_format = AuditFormat::text;

  // The process.
  LogLevel loglevel = LogLevel::notice;
  std::string logfile;  // "": standard output
  std::string pidfile;
  enum class Supervised { no, systemd, automatic } supervised = Supervised::no;

  // What a client may leave unread: one that asks, and one that listens to channels.
  OutputLimit output_limit{64 * 1024 * 1024, 0, 0s};
  OutputLimit listener_output_limit{32 * 1024 * 1024, 8 * 1024 * 1024, 60s};
  // What all clients together may make the node keep, in bytes; 0: any. Four of them at the largest
  // request or output that one may have; ten thousand that behave take a tenth of it.
  std::uint64_t maxmemory_clients = 256 * 1024 * 1024;
};

}  // namespace redlock::server
