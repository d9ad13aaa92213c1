#include "server/settings/setting_table.h"

#include "base/text/guess.h"
#include "base/text/words.h"
#include "protocol/catalogue/glob.h"
#include "protocol/resp/errors.h"
#include "server/settings/redis_directives.h"
#include "server/settings/setting_kinds.h"
#include "server/settings/setting_values.h"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

namespace redlock::server {
namespace {

using namespace kinds;
using Change = Setting::Change;
template <class Kind>
constexpr Setting row(std::string_view name, std::string_view accepts, Change change,
                      std::string_view alias = {}) {
  return Setting{name, alias, accepts, change, false, Kind::read, Kind::print};
}

template <class Kind>
constexpr Setting list_row(std::string_view name, std::string_view accepts, Change change) {
  return Setting{name, {}, accepts, change, true, Kind::read, Kind::print};
}

// In the order of config/redlock-node.conf.
constexpr std::array kTable = {
    row<Integer<&Settings::port, 0, 65535>>("port", "a number from 0 to 65535 (0: no TCP)",
                                            Change::at_start),
    list_row<Bind>("bind", "addresses; one with a '-' before it may be missing", Change::at_start),
    row<Integer<&Settings::tcp_backlog, 1, kIntMax>>("tcp-backlog", "a number from 1",
                                                     Change::at_start),
    row<Text<&Settings::unixsocket>>("unixsocket", "a path", Change::at_start),
    row<SocketMode>("unixsocketperm", "a file mode, octal, such as 770", Change::at_start),
    row<Seconds<&Settings::timeout>>("timeout", "seconds, or a duration such as 5m (0: never)",
                                     Change::running),
    row<Seconds<&Settings::tcp_keepalive>>(
        "tcp-keepalive", "seconds, or a duration such as 5m (0: none)", Change::running),
    row<Integer<&Settings::maxclients, 1, kUnsignedMax>>("maxclients", "a number from 1",
                                                         Change::running),
    list_row<OutputBufferLimit>("client-output-buffer-limit",
                                "bytes, such as 64mb (0: any), or 'pubsub 32mb 8mb 60'",
                                Change::running),
    row<MemoryOrAny<&Settings::maxmemory_clients, kClientMemoryMin>>(
        "maxmemory-clients", "bytes from 1mb, such as 256mb (0: any)", Change::running),
    row<Integer<&Settings::metrics_port, 0, 65535>>(
        "metrics-port", "a number from 0 to 65535 (0: none)", Change::at_start),
    row<Integer<&Settings::tls_port, 0, 65535>>("tls-port", "a number from 0 to 65535 (0: no TLS)",
                                                Change::at_start),
    row<Text<&Settings::tls_cert_file>>("tls-cert-file", "a path", Change::running),
    row<Text<&Settings::tls_key_file>>("tls-key-file", "a path", Change::running),
    row<Text<&Settings::tls_key_file_pass>>("tls-key-file-pass", "a passphrase", Change::running),
    row<Text<&Settings::tls_ca_cert_file>>("tls-ca-cert-file", "a path", Change::running),
    row<Text<&Settings::tls_ca_cert_dir>>("tls-ca-cert-dir", "a path", Change::running),
    row<Choice<&Settings::tls_auth_clients, kTlsClients>>("tls-auth-clients", "yes, optional or no",
                                                          Change::running),
    row<Choice<&Settings::tls_auth_clients_user, kTlsUsers>>("tls-auth-clients-user", "off or CN",
                                                             Change::running),
    list_row<Joined<&Settings::tls_protocols>>("tls-protocols", "TLSv1.2, TLSv1.3 or both",
                                               Change::running),
    row<Text<&Settings::tls_ciphers>>("tls-ciphers", "ciphers of TLS 1.2, as OpenSSL lists them",
                                      Change::running),
    row<Text<&Settings::tls_ciphersuites>>(
        "tls-ciphersuites", "suites of TLS 1.3, as OpenSSL lists them", Change::running),
    row<YesNo<&Settings::tls_prefer_server_ciphers>>("tls-prefer-server-ciphers", "yes or no",
                                                     Change::running),
    row<YesNo<&Settings::tls_session_caching>>("tls-session-caching", "yes or no", Change::running),
    row<YesNo<&Settings::metrics_tls>>("metrics-tls", "yes or no", Change::at_start),
    row<YesNo<&Settings::protected_mode>>("protected-mode", "yes or no", Change::running),
    row<Text<&Settings::requirepass>>("requirepass", "a password", Change::running),
    row<Text<&Settings::requirepass_file>>("requirepass-file", "a path; '' is none",
                                           Change::at_start),
    row<Text<&Settings::aclfile>>("aclfile", "a path; '' is none", Change::at_start),
    row<Integer<&Settings::acllog_max_len, 0, kUnsignedMax>>("acllog-max-len", "a number from 0",
                                                             Change::running),
    row<Length<&Settings::max_ttl>>("max-ttl", "a duration from 1ms, such as 65s",
                                    Change::at_start),
    row<YesNo<&Settings::require_ttl>>("require-ttl", "yes or no", Change::at_start),
    row<YesNo<&Settings::hold_strict>>("hold-strict", "yes or no", Change::at_start),
    row<ClockDrift>("clock-drift", "a number above 0 and at most 0.5, such as 0.01",
                    Change::at_start),
    row<Memory<&Settings::maxmemory, 0>>("maxmemory", "bytes, such as 100mb (0: no bound)",
                                         Change::running),
    row<Memory<&Settings::value_size_limit, kValueSizeMin, kValueSizeMax>>(
        "value-size-limit", "bytes from 1kb to 16mb, such as 64kb", Change::running),
    row<EvictionPolicy>("maxmemory-policy", "noeviction alone: a lock is never evicted",
                        Change::running),
    row<StateDirectory>("dir", "a folder", Change::at_start),
    row<NodeId>("node-id", "40 lower-case hexadecimal digits", Change::at_start),
    row<Delay>("restart-delay", "auto, off or a duration such as 30s", Change::at_start),
    row<Choice<&Settings::restart_reply, kRestartReplies>>("restart-reply", "error or held",
                                                           Change::running),
    row<Length<&Settings::wake_next_after>>("wake-next-after", "a duration from 1ms, such as 10ms",
                                            Change::running),
    row<Integer<&Settings::fence_block, kFenceBlockMin, kFenceBlockMax>>(
        "fence-block", "a number from 1000 to 16777216", Change::at_start),
    row<RedisLength<&Settings::busy_reply_threshold, std::chrono::milliseconds, 1,
                    kDurationTextMax / 1ms>>("busy-reply-threshold",
                                             "milliseconds from 1, or a duration such as 1s",
                                             Change::running, "lua-time-limit"),
    row<Choice<&Settings::eval_scripts, kEvalScripts>>("eval", "all or known", Change::running),
    row<Length<&Settings::script_time_limit>>("script-time-limit",
                                              "a duration from 1ms, such as 5s", Change::running),
    row<Memory<&Settings::script_memory_limit, kScriptMemoryMin>>(
        "script-memory-limit", "bytes from 1mb, such as 16mb", Change::at_start),
    row<Memory<&Settings::script_size_limit, kScriptSizeMin>>(
        "script-size-limit", "bytes from 16kb, such as 64kb", Change::at_start),
    row<EventLetters>("notify-keyspace-events", "letters of 'Ag$lshzxeKEtmdn', such as KEA",
                      Change::running),
    row<Choice<&Settings::enable_debug_command, kDebugCommand>>(
        "enable-debug-command", "no, local or yes", Change::at_start),
    row<Integer<&Settings::slowlog_log_slower_than, -1, kInt64Max>>(
        "slowlog-log-slower-than", "microseconds (0: all, -1: none)", Change::running),
    row<Integer<&Settings::slowlog_max_len, 0, kInt64Max>>("slowlog-max-len", "a number from 0",
                                                           Change::running),
    row<Integer<&Settings::latency_monitor_threshold, 0, kInt64Max>>(
        "latency-monitor-threshold", "milliseconds (0: none)", Change::running),
    row<YesNo<&Settings::latency_tracking>>("latency-tracking", "yes or no", Change::running),
    row<AuditPlace>("audit", "no, log or a path", Change::at_start),
    row<Choice<&Settings::audit_format, kAuditFormats>>("audit-format", "text or json",
                                                        Change::at_start),
    row<Choice<&Settings::supervised, kSupervised>>("supervised", "no, systemd or auto",
                                                    Change::at_start),
    row<Choice<&Settings::loglevel, kLogLevels>>("loglevel", "debug, verbose, notice or warning",
                                                 Change::running),
    row<Text<&Settings::logfile>>("logfile", "a path; '' is standard output", Change::at_start),
    row<Text<&Settings::pidfile>>("pidfile", "a path; '' is none", Change::at_start),
    row<Fixed<kDatabases>>("databases", "1", Change::at_start),
    list_row<Fixed<kSave>>("save", "''", Change::never),
    row<Fixed<kAppendonly>>("appendonly", "no", Change::never),
    row<Fixed<kClusterEnabled>>("cluster-enabled", "no", Change::at_start),
    row<Fixed<kReplicaReadOnly>>("replica-read-only", "yes", Change::never, "slave-read-only"),
    row<Fixed<kDaemonize>>("daemonize", "no", Change::at_start),
};

constexpr std::string_view kTlsPrefix = "tls-";

std::string unknown_setting(std::string_view name) {
  std::vector<std::string_view> known;
  for (const Setting& setting : kTable) known.push_back(setting.name);
  const std::string_view nearest = nearest_word(name, known);
  const std::string guess = nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest);
  return fmt::format("there is no setting '{}'{}", name, guess);
}

Result<Applied> read_setting(const Setting& setting, Settings& settings, const Words& words) {
  if (words.empty() || (words.size() > 1 && !setting.is_list)) {
    return Failure{"wrong number of arguments"};
  }
  return setting.read(settings, words);
}

Failure set_failed(std::string_view name, std::string_view reason) {
  return Failure{
      fmt::format("ERR CONFIG SET failed (possibly related to argument '{}') - {}", name, reason)};
}

// Whether these names may be set together at all, before any value is looked at.
Status check_names(std::span<const std::string_view> names_and_values) {
  std::vector<std::string_view> seen;
  for (std::size_t at = 0; at < names_and_values.size(); at += 2) {
    const std::string_view name = names_and_values[at];
    const Setting* setting = find_setting(name);
    if (setting == nullptr) {
      return Failure{fmt::format("ERR Unknown option or number of arguments for CONFIG SET - '{}'",
                                 protocol::echoed(name))};
    }
    if (setting->change == Change::at_start) return set_failed(name, "can't set immutable config");
    for (const std::string_view other : seen) {
      if (equals_ignoring_case(other, name)) return set_failed(name, "duplicate parameter");
    }
    seen.push_back(name);
  }
  return Done{};
}

Result<Applied> set_one(Settings& settings, const Setting& setting, std::string_view value) {
  auto applied = read_setting(setting, settings, words_of_value(setting.name, value));
  if (applied && setting.change == Change::never && !applied.value().warning.empty()) {
    return Failure{applied.value().warning};
  }
  return applied;
}

}  // namespace

std::span<const Setting> setting_table() {
  return kTable;
}

const Setting* find_setting(std::string_view name) {
  for (const Setting& setting : kTable) {
    if (equals_ignoring_case(setting.name, name)) return &setting;
    if (!setting.alias.empty() && equals_ignoring_case(setting.alias, name)) return &setting;
  }
  return nullptr;
}

Result<Applied> apply(Settings& settings, std::string_view name,
                      const std::vector<std::string>& words) {
  if (const Setting* setting = find_setting(name)) {
    auto applied = read_setting(*setting, settings, words);
    if (applied) return applied;
    return Failure{
        fmt::format("{}: {}; it takes {}", setting->name, applied.error().text, setting->accepts)};
  }
  const RedisDirective directive = redis_directive(name, words);
  switch (directive.treatment) {
    case RedisDirective::Treatment::does_nothing:
      return Applied{.warning = {}, .meaningless = directive.reason};
    case RedisDirective::Treatment::refused:
      return Failure{fmt::format("{}: {}", name, directive.reason)};
    case RedisDirective::Treatment::unknown:
      break;
  }
  return Failure{unknown_setting(name)};
}

std::vector<std::string> words_of_value(std::string_view name, std::string_view value) {
  const Setting* setting = find_setting(name);
  if (setting == nullptr || !setting->is_list) return {std::string(value)};
  Words words = split_blanks(value);
  if (words.empty()) words.emplace_back();
  return words;
}

std::optional<std::vector<std::pair<std::string, std::string>>> get(
    const Settings& settings, std::span<const std::string_view> patterns) {
  std::vector<std::pair<std::string, std::string>> found;
  std::size_t steps = 0;
  for (const Setting& setting : kTable) {
    for (const std::string_view name : {setting.name, setting.alias}) {
      if (name.empty()) continue;
      const bool asked = std::any_of(patterns.begin(), patterns.end(), [&](auto pattern) {
        steps += protocol::kGlobStepsOfMatch;
        return protocol::glob_matches(pattern, name, steps, protocol::LetterCase::ignored);
      });
      if (steps > protocol::kGlobStepsOfManyMax) return std::nullopt;
      if (asked) found.emplace_back(name, setting.print(settings));
    }
  }
  return found;
}

Result<std::vector<std::string>> set(Settings& settings,
                                     std::span<const std::string_view> names_and_values,
                                     const AcceptTls& accept_tls) {
  if (names_and_values.size() % 2 != 0) return Failure{"ERR syntax error"};
  const Status allowed = check_names(names_and_values);
  if (!allowed) return allowed.error();
  Settings changed = settings;
  std::vector<std::string> warnings;
  std::string_view tls_name;
  for (std::size_t at = 0; at < names_and_values.size(); at += 2) {
    const std::string_view name = names_and_values[at];
    const auto applied = set_one(changed, *find_setting(name), names_and_values[at + 1]);
    if (!applied) return set_failed(name, applied.error().text);
    if (!applied.value().warning.empty()) {
      warnings.push_back(fmt::format("{}: {}", name, applied.value().warning));
    }
    if (equals_ignoring_case(name.substr(0, kTlsPrefix.size()), kTlsPrefix)) tls_name = name;
  }
  if (!tls_name.empty() && accept_tls) {
    if (Status accepted = accept_tls(changed); !accepted) {
      return set_failed(tls_name, accepted.error().text);
    }
  }
  settings = std::move(changed);
  return warnings;
}

Status check(const Settings& settings) {
  const bool has_port = settings.port != 0 || settings.tls_port != 0;
  if ((!has_port || settings.bind.empty()) && settings.unixsocket.empty()) {
    return Failure{
        "nobody could reach this node: it has neither a port with an address (port or tls-port, "
        "bind) nor a unixsocket"};
  }
  if (settings.tls_port != 0 && settings.tls_port == settings.port) {
    return Failure{
        fmt::format("tls-port {} is the port of those who speak in the clear: name "
                    "another, or set port to 0",
                    settings.tls_port)};
  }
  const bool is_clients =
      settings.metrics_port == settings.port || settings.metrics_port == settings.tls_port;
  if (settings.metrics_port != 0 && is_clients) {
    return Failure{fmt::format("metrics-port {} is the port of clients", settings.port)};
  }
  if (!settings.unixsocket.empty() && !settings.unixsocket.starts_with('/')) {
    return Failure{fmt::format("unixsocket: '{}' is no absolute path: it begins with a /",
                               settings.unixsocket)};
  }
  if (!settings.aclfile.empty() && !settings.users.empty()) {
    return Failure{
        "users stand in the configuration (user) and in a file (aclfile): they stand in one"};
  }
  return Done{};
}

std::vector<std::string> cautions(const Settings& settings) {
  std::vector<std::string> sentences;
  if (!settings.require_ttl) {
    sentences.emplace_back(
        "require-ttl is no: keys without a TTL are outside every promise of a lock node");
  }
  if (!settings.aclfile.empty() && !settings.requirepass.empty()) {
    sentences.emplace_back(
        "requirepass is for an aclfile that names no default user: else his password stands there");
  }
  const bool has_users = !settings.aclfile.empty() || !settings.users.empty();
  if (!settings.protected_mode && settings.requirepass.empty() && !has_users) {
    sentences.emplace_back(
        "protected-mode is no and there is no requirepass: whoever reaches this node can take and "
        "delete its locks");
  }
  return sentences;
}

bool is_secret(std::string_view name) {
  constexpr std::array<std::string_view, 5> kSecrets = {
      "requirepass", "masterauth", "user", "tls-key-file-pass", "tls-client-key-file-pass"};
  return std::any_of(kSecrets.begin(), kSecrets.end(),
                     [&](std::string_view secret) { return equals_ignoring_case(secret, name); });
}

std::string state_directory(const Settings& settings) {
  if (!settings.dir.empty()) return settings.dir;
  return fmt::format("./redlock-node-{}", settings.port != 0 ? settings.port : settings.tls_port);
}

}  // namespace redlock::server
