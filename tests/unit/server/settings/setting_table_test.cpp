#include "server/settings/setting_table.h"

#include "base/text/quoted_words.h"

#include <algorithm>

#include <catch2/catch.hpp>
#include <fmt/format.h>

namespace redlock::server {
namespace {

// Applies a line as a file would hold it; "" or the failure.
std::string line(Settings& settings, std::string_view text) {
  auto words = split_quoted_words(text);
  REQUIRE((words && !words->empty()));
  const std::string name = words->front();
  words->erase(words->begin());
  return apply(settings, name, *words).error().text;
}

// CONFIG GET of names, as "name=value name=value".
std::string config_get(const Settings& settings, std::vector<std::string_view> patterns) {
  std::string text;
  const auto found = get(settings, patterns);
  for (const auto& [name, value] : found.value()) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  }
  return text;
}

std::string config_set(Settings& settings, std::vector<std::string_view> names_and_values) {
  const auto done = set(settings, names_and_values);
  return done ? "OK" : done.error().text;
}

std::string failed(const std::string& name, const std::string& reason) {
  return "ERR CONFIG SET failed (possibly related to argument '" + name + "') - " + reason;
}

}  // namespace

TEST_CASE("every setting reads back what it prints") {
  for (const Setting& setting : setting_table()) {
    INFO(setting.name);
    const Settings defaults;
    Settings settings;
    const std::string printed = setting.print(defaults);
    auto words = split_quoted_words(printed);
    REQUIRE(words);
    if (words->empty()) words->emplace_back();
    const auto applied = apply(settings, setting.name, *words);
    CHECK(applied.error().text.empty());
    CHECK(applied.value().warning.empty());
    CHECK(setting.print(settings) == printed);
  }
}

TEST_CASE("names are unique, also among the aliases, and every row is complete") {
  std::vector<std::string_view> names;
  for (const Setting& setting : setting_table()) {
    INFO(setting.name);
    CHECK_FALSE(setting.accepts.empty());
    names.push_back(setting.name);
    if (!setting.alias.empty()) names.push_back(setting.alias);
  }
  std::sort(names.begin(), names.end());
  CHECK(std::adjacent_find(names.begin(), names.end()) == names.end());
}

TEST_CASE("a line sets its setting") {
  Settings settings;
  CHECK(line(settings, "PORT 7001").empty());
  CHECK(settings.port == 7001);
  CHECK(line(settings, "bind 127.0.0.1 -::1 10.0.0.1").empty());
  CHECK(settings.bind == std::vector<std::string>{"127.0.0.1", "-::1", "10.0.0.1"});
  CHECK(line(settings, "bind \"\"").empty());
  CHECK(settings.bind.empty());
  CHECK(line(settings, "unixsocketperm 770").empty());
  CHECK(settings.unixsocketperm == 0770);
  CHECK(line(settings, "maxmemory 100mb").empty());
  CHECK(settings.maxmemory == 100 * 1024 * 1024);
  CHECK(line(settings, "clock-drift 0.05").empty());
  CHECK(settings.clock_drift == 0.05);
  CHECK(line(settings, "requirepass 'two words'").empty());
  CHECK(settings.requirepass == "two words");
  CHECK(line(settings, "restart-reply held").empty());
  CHECK(settings.restart_reply == RestartReply::held);
  CHECK(line(settings, "loglevel warning").empty());
  CHECK(settings.loglevel == LogLevel::warning);
  CHECK(line(settings, "supervised auto").empty());
  CHECK(settings.supervised == Settings::Supervised::automatic);
}

TEST_CASE("a plain number is in Redis's unit where the name is Redis's, else in milliseconds") {
  Settings settings;
  CHECK(line(settings, "timeout 90").empty());
  CHECK(settings.timeout == 90s);
  CHECK(line(settings, "tcp-keepalive 5m").empty());
  CHECK(settings.tcp_keepalive == 300s);
  CHECK(line(settings, "lua-time-limit 2500").empty());
  CHECK(settings.busy_reply_threshold == 2500ms);
  CHECK(line(settings, "max-ttl 1500").empty());
  CHECK(settings.max_ttl == 1500ms);
  CHECK(line(settings, "max-ttl 2.5s").empty());
  CHECK(settings.max_ttl == 2500ms);
  CHECK_THAT(line(settings, "max-ttl 2.0005s"), Catch::Contains("a whole number of milliseconds"));
  CHECK(line(settings, "script-time-limit 3s").empty());
  CHECK(settings.script_time_limit == 3s);
  CHECK(line(settings, "timeout 1500ms") ==
        "timeout: argument must be a whole number of seconds; it takes seconds, or a duration such "
        "as 5m (0: never)");
}

TEST_CASE("restart-delay is auto, off or a duration") {
  Settings settings;
  CHECK(line(settings, "restart-delay off").empty());
  CHECK(settings.restart_delay.mode == RestartDelay::Mode::off);
  CHECK(line(settings, "restart-delay 30s").empty());
  CHECK(settings.restart_delay == RestartDelay{RestartDelay::Mode::fixed, 30s});
  CHECK(config_get(settings, {"restart-delay"}) == "restart-delay=30s");
  CHECK(line(settings, "restart-delay auto").empty());
  CHECK(settings.restart_delay == RestartDelay{});
  CHECK_FALSE(line(settings, "restart-delay 0").empty());
  CHECK_FALSE(line(settings, "restart-delay never").empty());
}

constexpr std::string_view kBad[] = {"port 65536",
                                     "port -1",
                                     "port",
                                     "port 1 2",
                                     "protected-mode maybe",
                                     "max-ttl 0",
                                     "max-ttl -1",
                                     "max-ttl 5 s",
                                     "max-ttl 36501d",
                                     "clock-drift 0",
                                     "clock-drift 0.6",
                                     "clock-drift nan",
                                     "clock-drift -0.1",
                                     "clock-drift 1e-400",
                                     "maxclients 0",
                                     "maxmemory 50%",
                                     "maxmemory -1",
                                     "maxmemory 99999999999gb",
                                     "maxmemory mb",
                                     "bind '127.0.0.1 ::1'",
                                     "unixsocketperm 9",
                                     "unixsocketperm 1000",
                                     "unixsocketperm ''",
                                     "loglevel loud",
                                     "supervised upstart",
                                     "script-memory-limit 1k",
                                     "busy-reply-threshold 0",
                                     "node-id abc",
                                     "node-id 0123456789012345678901234567890123456789A",
                                     "maxmemory-policy allkeys-lru",
                                     "value-size-limit 1023",
                                     "value-size-limit 16777217",
                                     "restart-reply nil",
                                     "wake-next-after 0",
                                     "fence-block 999",
                                     "fence-block 16777217",
                                     "client-output-buffer-limit",
                                     "client-output-buffer-limit normal 0 0",
                                     "client-output-buffer-limit big 0 0 0",
                                     "client-output-buffer-limit normal 0 0 x",
                                     "timeout 2147483648",
                                     "timeout 99999999999999999999"};

TEST_CASE("a bad value is refused with what is wrong and what is accepted, and changes nothing") {
  Settings settings;
  CHECK(line(settings, "port abc") ==
        "port: argument couldn't be parsed into an integer; it takes a number from 0 to 65535 "
        "(0: no TCP)");
  for (const std::string_view bad : kBad) {
    INFO(bad);
    CHECK_FALSE(line(settings, bad).empty());
  }
  CHECK(config_get(settings, {"*"}) == config_get(Settings{}, {"*"}));
}

TEST_CASE("an unknown name is refused, with a guess when it is near one") {
  Settings settings;
  CHECK(line(settings, "max-tll 5s") == "there is no setting 'max-tll'; did you mean 'max-ttl'?");
  CHECK(line(settings, "prot 7001") == "there is no setting 'prot'; did you mean 'port'?");
  CHECK(line(settings, "prog 7001") == "there is no setting 'prog'");
  CHECK(line(settings, "frobnicate yes") == "there is no setting 'frobnicate'");
  CHECK(line(settings, std::string(100000, 'x') + " 1").starts_with("there is no setting"));
}

TEST_CASE("directives of Redis that do nothing here are accepted with a reason") {
  Settings settings;
  for (const std::string_view name :
       {"appendfsync", "repl-timeout", "hz", "io-threads", "replicaof", "rdbchecksum",
        "cluster-node-timeout", "enable-module-command"}) {
    INFO(name);
    const auto applied = apply(settings, name, {"1"});
    REQUIRE(applied);
    CHECK_FALSE(applied.value().meaningless.empty());
  }
  const auto save = apply(settings, "save", {"3600", "1"});
  REQUIRE(save);
  CHECK_FALSE(save.value().warning.empty());
  CHECK(apply(settings, "save", {""}).value().warning.empty());
  CHECK_FALSE(apply(settings, "databases", {"16"}).value().warning.empty());
  CHECK_FALSE(apply(settings, "daemonize", {"yes"}).value().warning.empty());
}

TEST_CASE("directives that keep somebody out are refused while they are not supported") {
  Settings settings;
  for (const std::string_view bad : {"tls-auth-clients-user URI", "acl-pubsub-default allchannels",
                                     "rename-command FLUSHALL ''"}) {
    INFO(bad);
    CHECK_FALSE(line(settings, bad).empty());
  }
  CHECK(line(settings, "tls-auth-clients-user CN").empty());
  CHECK(line(settings, "acl-pubsub-default resetchannels").empty());
}

TEST_CASE("users stand in the configuration or in a file, not in both") {
  Settings settings;
  CHECK(line(settings, "aclfile /etc/users.acl").empty());
  CHECK(check(settings));
  settings.users = {"user a on"};
  CHECK_FALSE(check(settings));
  settings.aclfile.clear();
  CHECK(check(settings));
}

TEST_CASE("TLS is asked whether it can go by what CONFIG SET sets, and only then") {
  Settings settings;
  int asked = 0;
  const AcceptTls accept = [&](const Settings& changed) -> Status {
    ++asked;
    if (changed.tls_cert_file == "/bad") return Failure{"tls-cert-file: /bad is bad"};
    return Done{};
  };
  const auto set_by = [&](std::vector<std::string_view> words) {
    const auto changed = set(settings, words, accept);
    return changed ? std::string() : changed.error().text;
  };
  CHECK(set_by({"timeout", "5"}).empty());
  CHECK(asked == 0);
  CHECK(set_by({"tls-cert-file", "/good", "tls-key-file", "/key"}).empty());
  CHECK(asked == 1);
  CHECK(settings.tls_cert_file == "/good");
  CHECK(set_by({"timeout", "6", "TLS-cert-file", "/bad"}) ==
        "ERR CONFIG SET failed (possibly related to argument 'TLS-cert-file') - tls-cert-file: "
        "/bad is bad");
  CHECK(settings.tls_cert_file == "/good");
  CHECK(settings.timeout == 5s);
}

TEST_CASE("a node may have TLS alone, at a port of its own") {
  Settings settings;
  settings.port = 0;
  CHECK_FALSE(check(settings));
  settings.tls_port = 6380;
  CHECK(check(settings));
  CHECK(state_directory(settings) == "./redlock-node-6380");
  settings.metrics_port = 6380;
  CHECK_FALSE(check(settings));
  settings.metrics_port = 0;
  settings.port = 6380;
  CHECK_FALSE(check(settings));
}

TEST_CASE("client-output-buffer-limit has figures for those who ask and those who listen") {
  Settings settings;
  const auto printed = [&settings] { return config_get(settings, {"client-output-buffer-limit"}); };
  CHECK(printed() ==
        "client-output-buffer-limit=normal 67108864 0 0 slave 0 0 0 pubsub 33554432 8388608 60");
  CHECK(line(settings, "client-output-buffer-limit pubsub 16mb 1mb 30").empty());
  CHECK(settings.output_limit == OutputLimit{64 << 20, 0, 0s});
  CHECK(settings.listener_output_limit == OutputLimit{16 << 20, 1 << 20, 30s});
  CHECK(line(settings, "client-output-buffer-limit replica 256mb 64mb 60").empty());
  CHECK(printed() ==
        "client-output-buffer-limit=normal 67108864 0 0 slave 0 0 0 pubsub 16777216 1048576 30");
  CHECK(line(settings, "client-output-buffer-limit 32mb").empty());
  CHECK(printed() ==
        "client-output-buffer-limit=normal 33554432 0 0 slave 0 0 0 pubsub 33554432 0 0");
  CHECK(config_set(settings, {"client-output-buffer-limit", "normal 0 0 0 pubsub 1mb 1kb 5"}) ==
        "OK");
  CHECK(printed() == "client-output-buffer-limit=normal 0 0 0 slave 0 0 0 pubsub 1048576 1024 5");
}

TEST_CASE("a client may leave unread what the hard limit says, and for a time what the soft says") {
  UnreadWatch watch;
  const OutputLimit limit{1000, 100, 60s};
  const Instant start(1h);
  CHECK_FALSE(watch.is_too_much(1000, limit, start));
  CHECK(watch.is_too_much(1001, limit, start));
  CHECK_FALSE(watch.is_too_much(101, limit, start + 60s));
  CHECK(watch.is_too_much(101, limit, start + 61s));
  CHECK_FALSE(watch.is_too_much(100, limit, start + 62s));  // it has read: the time begins anew
  CHECK_FALSE(watch.is_counting());
  CHECK_FALSE(watch.is_too_much(101, limit, start + 63s));
  CHECK(watch.is_counting());
  CHECK_FALSE(watch.is_too_much(101, limit, start + 123s));
  CHECK(watch.is_too_much(101, limit, start + 124s));
  CHECK_FALSE(watch.is_too_much(1'000'000, {}, start));  // no limits
}

TEST_CASE("CONFIG GET takes globs, several, in any case, and answers each name once") {
  const Settings settings;
  CHECK(config_get(settings, {"tim*", "TIMEOUT"}) == "timeout=0");
  CHECK(config_get(settings, {"databases"}) == "databases=1");
  CHECK(config_get(settings, {"save"}) == "save=");
  CHECK(config_get(settings, {"appendonly"}) == "appendonly=no");
  CHECK(config_get(settings, {"maxmemory-policy"}) == "maxmemory-policy=noeviction");
  CHECK(config_get(settings, {"lua-time-limit"}) == "lua-time-limit=20");
  CHECK(config_get(settings, {"*-time-limit", "busy*"}) ==
        "busy-reply-threshold=20 lua-time-limit=20 script-time-limit=5s");
  CHECK(config_get(settings, {"port", "bind"}) == "port=6379 bind=127.0.0.1 -::1");
  CHECK(config_get(settings, {"nothing"}).empty());
  CHECK(config_get(settings, {}).empty());
}

TEST_CASE("CONFIG SET changes what can change, under every name") {
  Settings settings;
  CHECK(config_set(settings, {"TIMEOUT", "3"}) == "OK");
  CHECK(settings.timeout == 3s);
  CHECK(config_set(settings, {"lua-time-limit", "100", "busy-reply-threshold", "200"}) == "OK");
  CHECK(settings.busy_reply_threshold == 200ms);
  CHECK(config_set(settings, {"requirepass", "a b"}) == "OK");
  CHECK(settings.requirepass == "a b");
  CHECK(config_set(settings, {"maxmemory", "1gb"}) == "OK");
  CHECK(config_get(settings, {"maxmemory"}) == "maxmemory=1073741824");
  CHECK(config_set(settings, {"save", ""}) == "OK");
  CHECK(config_set(settings, {"save", "900 1"}) ==
        failed("save", "locks are not kept in RDB files: see dir and restart-delay"));
  CHECK(config_set(settings, {}) == "OK");
}

TEST_CASE("CONFIG SET refuses with Redis's words") {
  Settings settings;
  CHECK(config_set(settings, {"a", "b", "c"}) == "ERR syntax error");
  CHECK(config_set(settings, {"foo", "bar"}) ==
        "ERR Unknown option or number of arguments for CONFIG SET - 'foo'");
  CHECK(config_set(settings, {"timeout", "x", "bogus", "1"}) ==
        "ERR Unknown option or number of arguments for CONFIG SET - 'bogus'");
  CHECK(config_set(settings, {"hz", "10"}) ==
        "ERR Unknown option or number of arguments for CONFIG SET - 'hz'");
  CHECK(config_set(settings, {"databases", "3"}) ==
        failed("databases", "can't set immutable config"));
  CHECK(config_set(settings, {"tcp-backlog", "100"}) ==
        failed("tcp-backlog", "can't set immutable config"));
  CHECK(config_set(settings, {"timeout", "abc"}) ==
        failed("timeout", "argument couldn't be parsed into an integer"));
  CHECK(config_set(settings, {"timeout", "-1"}) ==
        failed("timeout", "argument must be between 0 and 2147483647 inclusive"));
  CHECK(config_set(settings, {"timeout", "1", "timeout", "2"}) ==
        failed("timeout", "duplicate parameter"));
  CHECK(config_set(settings, {"maxclients", "0"}) ==
        failed("maxclients", "argument must be between 1 and 4294967295 inclusive"));
  CHECK(config_set(settings, {"loglevel", "foo"}) ==
        failed("loglevel",
               "argument(s) must be one of the following: debug, verbose, notice, warning"));
  CHECK(config_set(settings, {"protected-mode", "maybe"}) ==
        failed("protected-mode", "argument must be 'yes' or 'no'"));
  CHECK(config_set(settings, {"maxmemory", "abc"}) ==
        failed("maxmemory", "argument must be a memory value"));
  CHECK(config_set(settings, {"client-output-buffer-limit", "foo"}) ==
        failed("client-output-buffer-limit",
               "Wrong number of arguments in buffer limit configuration."));
  CHECK(config_set(settings, {"client-output-buffer-limit", ""}) ==
        failed("client-output-buffer-limit",
               "Wrong number of arguments in buffer limit configuration."));
}

TEST_CASE("CONFIG SET of several is all or nothing") {
  Settings settings;
  CHECK(config_set(settings, {"timeout", "5", "loglevel", "foo"}) ==
        failed("loglevel",
               "argument(s) must be one of the following: debug, verbose, notice, warning"));
  CHECK(settings.timeout == 0s);
}

TEST_CASE("what locks rest on cannot change while running (rule L1)") {
  Settings settings;
  for (const std::string_view name : {"max-ttl", "require-ttl", "clock-drift", "restart-delay"}) {
    INFO(name);
    const std::string printed = get(settings, std::vector{name})->front().second;
    CHECK(config_set(settings, {name, printed}) ==
          failed(std::string(name), "can't set immutable config"));
  }
}

TEST_CASE("a node that nobody could reach does not start") {
  Settings settings;
  CHECK(check(settings));
  settings.port = 0;
  CHECK_FALSE(check(settings));
  settings.unixsocket = "/run/node.sock";
  CHECK(check(settings));
  settings.unixsocket = "node.sock";
  CHECK_THAT(check(settings).error().text, Catch::Contains("no absolute path"));
  settings = Settings{};
  settings.bind.clear();
  CHECK_FALSE(check(settings));
}

TEST_CASE("settings that give a promise up are spoken of at every start (rule L3)") {
  CHECK(cautions(Settings{}).empty());
  Settings settings;
  settings.require_ttl = false;
  settings.protected_mode = false;
  CHECK(cautions(settings).size() == 2);
}

TEST_CASE("the state folder is dir, or one named by the port") {
  Settings settings;
  settings.port = 7001;
  CHECK(state_directory(settings) == "./redlock-node-7001");
  settings.dir = "/var/lib/redlock-node/a";
  CHECK(state_directory(settings) == "/var/lib/redlock-node/a");
}

}  // namespace redlock::server
