// The command line of `redlock serve`.
#include "base/text/duration_text.h"
#include "base/text/number.h"
#include "coordinator/cli/command_line/command_line_parts.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace redlock::coordinator {
namespace {

// What the sessions of a front door go by as those of a node do: read by the node's own code.
struct NodeSetting {
  std::string_view name;
  const char* help;
  const char* type;
};
constexpr std::array kNodeSettings = {
    NodeSetting{"requirepass", "the password that clients must give", "P"},
    NodeSetting{"aclfile", "users with rights, a line for each: docs/security.md", "FILE"},
    NodeSetting{"protected-mode", "without a password: clients of this machine alone (yes)", "Y"},
    NodeSetting{"maxclients", "how many at once (10000)", "N"},
    NodeSetting{"timeout", "an idle client is closed after so many seconds (0: never)", "N"},
    NodeSetting{"unixsocketperm", "the mode of unix sockets, such as 770", "MODE"},
    NodeSetting{"tls-cert-file", "the certificate that is shown to clients", "FILE"},
    NodeSetting{"tls-key-file", "its key", "FILE"},
    NodeSetting{"tls-key-file-pass", "the passphrase of that key", "P"},
    NodeSetting{"tls-ca-cert-file", "who signs the certificates of clients", "FILE"},
    NodeSetting{"tls-ca-cert-dir", "the same, a folder", "DIR"},
    NodeSetting{"tls-auth-clients", "whether clients show one: yes, optional, no (yes)", "WORD"},
    NodeSetting{"tls-auth-clients-user", "whom one stands for: off, CN: its common name (off)",
                "WORD"},
    NodeSetting{"tls-protocols", "TLSv1.2, TLSv1.3 or both (both)", "WORDS"},
    NodeSetting{"tls-ciphers", "of TLS 1.2, as OpenSSL has them", "LIST"},
    NodeSetting{"tls-ciphersuites", "of TLS 1.3, as OpenSSL has them", "LIST"},
    NodeSetting{"audit", "who breaks locks, and more: no, log or a path (no)", "PLACE"},
    NodeSetting{"audit-format", "of its lines: text or json (text)", "WORD"},
    NodeSetting{"logfile", "instead of standard output", "FILE"},
    NodeSetting{"loglevel", "debug, verbose, notice or warning (notice)", "LEVEL"},
};

constexpr Duration kTimeMax = std::chrono::hours(1);

std::vector<std::string> pieces_of(std::string_view list) {
  std::vector<std::string> pieces;
  constexpr std::string_view kBetween = ", \t";
  while (!list.empty()) {
    const std::size_t end = std::min(list.find_first_of(kBetween), list.size());
    if (end > 0) pieces.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return pieces;
}

// host:port, [address]:port, or the path of a unix socket.
std::optional<net::Address> listen_address(const std::string& text) {
  if (text.starts_with('/')) return net::Address{text, 0};
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) return std::nullopt;
  std::string host = text.substr(0, colon);
  const auto port = parse_int64(std::string_view(text).substr(colon + 1));
  if (!port || *port < 1 || *port > 65535) return std::nullopt;
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  const net::Address address{host, static_cast<std::uint16_t>(*port)};
  if (!net::numeric_socket_address(address)) return std::nullopt;
  return address;
}

Problem read_listen(const GivenSettings& settings, std::string_view name,
                    std::vector<net::Address>& places) {
  const GivenSetting* setting = settings.find(name);
  if (setting == nullptr) return {};
  for (const std::string& text : pieces_of(setting->value)) {
    const auto address = listen_address(text);
    if (!address) {
      return mistake(*setting, fmt::format("'{}' is no place to listen: 127.0.0.1:6379, "
                                           "[::1]:6379, 0.0.0.0:6379, or /path/of/a.sock",
                                           text));
    }
    if (address->is_unix()) {
      if (const Status fits = net::check_unix_path(address->host); !fits) {
        return mistake(*setting, fits.error().text);
      }
    }
    places.push_back(*address);
  }
  return {};
}

constexpr std::string_view kPagePlace =
    "a page's place is host:port, by a numeric address, such as 127.0.0.1:9379";

std::optional<net::Address> page_address(const std::string& text) {
  auto address = listen_address(text);
  if (address && address->is_unix()) address.reset();
  return address;
}

Problem read_http(const GivenSettings& settings, Options& options) {
  if (const GivenSetting* setting = settings.find("http")) {
    options.http = page_address(setting->value);
    if (!options.http) return mistake(*setting, kPagePlace);
  }
  if (Problem problem = read_yes_no(settings, "http-tls", options.serve.http_tls)) return problem;
  const GivenSetting* names = settings.find("http-names");
  if (names == nullptr) return {};
  options.http_names = names->value;
  if (names->value == "no" || names->value == "hash" || names->value == "yes") return {};
  return mistake(*names, fmt::format("'{}' is none of no, hash and yes", names->value));
}

Problem read_time(const GivenSettings& settings, std::string_view name, Duration& time) {
  if (Problem problem = read_duration(settings, name, time)) return problem;
  if (time >= 1ms && time <= kTimeMax) return {};
  return mistake(*settings.find(name), "from 1ms to 1h");
}

Problem read_max_ttl(const GivenSettings& settings, std::optional<Duration>& max_ttl) {
  const GivenSetting* setting = settings.find("max-ttl");
  if (setting == nullptr || setting->value == "auto") return {};
  if (Problem problem = read_duration(settings, "max-ttl", max_ttl.emplace())) return problem;
  if (*max_ttl >= 1ms) return {};
  return mistake(*setting, "at least 1ms, or auto: as long as the nodes allow");
}

// A hung node would cost more than an attempt may take.
Problem check_node_timeout(const GivenSettings& settings, Options& options) {
  const GivenSetting* timeout = settings.find("node-timeout");
  if (timeout != nullptr && options.client.node_timeout > options.serve.acquire_time) {
    return mistake(*timeout, fmt::format("longer than the acquire-time, {}: one node that hangs "
                                         "would cost an attempt all of its time",
                                         duration_text(options.serve.acquire_time)));
  }
  options.client.node_timeout = std::min(options.client.node_timeout, options.serve.acquire_time);
  return {};
}

// The password of the door's clients, where it stands in a file of its own.
Problem read_clients_password(const GivenSettings& settings, ServeOptions& serve) {
  const GivenSetting* file = settings.find("requirepass-file");
  const GivenSetting* given = settings.find("requirepass");
  if (given != nullptr && file == nullptr) return {};
  if (given != nullptr) {
    return mistake(*file, "requirepass and requirepass-file contradict each other: name one");
  }
  std::string password;
  if (Problem problem = read_password_file(settings, "requirepass-file", "requirepass", password)) {
    return problem;
  }
  if (password.empty()) return {};
  const std::string origin = file != nullptr ? file->origin : "the credential requirepass";
  serve.of_sessions.push_back({"requirepass", password, origin, file != nullptr && file->is_flag});
  return {};
}

}  // namespace

void add_serve(CLI::App& app, Flags& flags, Options& options) {
  CLI::App& subcommand = *app.add_subcommand(
      "serve", "a front door: one address that looks like one Redis; each lock is a quorum's");
  subcommand
      .add_option("--listen", flags.listen,
                  "where: host:port or the path of a unix socket; may be given again "
                  "(127.0.0.1:6379 and [::1]:6379)")
      ->type_name("ADDRESS");
  subcommand
      .add_option("--listen-tls", flags.listen_tls,
                  "where by TLS; without --listen nowhere else; may be given again")
      ->type_name("ADDRESS");
  add_setting(subcommand, flags, "--http-tls", "http-tls", "whether the page is at https (no)",
              "Y");
  add_setting(subcommand, flags, "--http", "http",
              "where a page and /metrics are: host:port (nowhere)", "ADDRESS");
  add_setting(subcommand, flags, "--http-names", "http-names",
              "whether the page names locks: no, hash, yes (by the address)", "WORD");
  add_setting(subcommand, flags, "--acquire-time", "acquire-time",
              "how long the nodes may take for a lock (500ms)", "D");
  add_setting(subcommand, flags, "--reply-time", "reply-time",
              "how long a reply may take to its client (1s)", "D");
  add_setting(subcommand, flags, "--max-ttl", "max-ttl",
              "the longest TTL of a client (auto: as the nodes allow)", "D");
  subcommand.add_flag("--require-quorum", options.serve.require_quorum,
                      "end with 69 if no quorum of the nodes answers at the start");
  for (const NodeSetting& setting : kNodeSettings) {
    add_setting(subcommand, flags, fmt::format("--{}", setting.name), std::string(setting.name),
                setting.help, setting.type);
  }
  add_setting(subcommand, flags, "--requirepass-file", "requirepass-file",
              "a file whose first line is the password of clients", "FILE");
}

void add_status(CLI::App& app, Flags& flags, Options& options) {
  CLI::App& subcommand = *app.add_subcommand("status", "the nodes, what is wrong, and a verdict");
  CLI::Option* const watch =
      subcommand.add_flag("--watch", options.watch, "show it again each second, until q");
  const auto read_page = [&options](const std::string& text) {
    options.http = page_address(text);
    return options.http ? std::string() : fmt::format("'{}': {}", text, kPagePlace);
  };
  CLI::Option* const page =
      subcommand.add_option("--http", flags.page, "show it to browsers at host:port, until Ctrl-C")
          ->type_name("ADDRESS")
          ->check(CLI::Validator(read_page, ""))
          ->excludes(watch);
  subcommand
      .add_option("--http-names", options.http_names,
                  "whether the page names locks: no, hash, yes (by the address)")
      ->type_name("WORD")
      ->check(CLI::IsMember({"no", "hash", "yes"}))
      ->needs(page);
}

Problem read_serve(const GivenSettings& settings, Options& options) {
  ServeOptions& serve = options.serve;
  if (Problem problem = read_listen(settings, "listen", serve.listen)) return problem;
  if (Problem problem = read_listen(settings, "listen-tls", serve.listen_tls)) return problem;
  if (Problem problem = read_http(settings, options)) return problem;
  if (Problem problem = read_time(settings, "acquire-time", serve.acquire_time)) return problem;
  if (Problem problem = read_time(settings, "reply-time", serve.reply_time)) return problem;
  if (Problem problem = read_max_ttl(settings, serve.max_ttl)) return problem;
  for (const NodeSetting& setting : kNodeSettings) {
    const GivenSetting* given = settings.find(setting.name);
    if (given == nullptr) continue;
    serve.of_sessions.push_back(
        {std::string(setting.name), given->value, given->origin, given->is_flag});
  }
  if (Problem problem = read_clients_password(settings, serve)) return problem;
  return check_node_timeout(settings, options);
}

}  // namespace redlock::coordinator
