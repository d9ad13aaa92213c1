#include "server/settings/configuration.h"

#include <map>

#include <catch2/catch.hpp>

namespace redlock::server {
namespace {

// Files by path.
struct Files {
  std::map<std::string, std::string> texts;

  ReadFile reader() const {
    return [this](const std::string& path) -> Result<std::string> {
      const auto found = texts.find(path);
      if (found == texts.end()) return Failure{"No such file or directory"};
      return found->second;
    };
  }
};

struct Outcome {
  Configuration configuration;
  std::string error;
};

Outcome read(const Files& files) {
  Outcome outcome;
  outcome.error = read_config_file("a.conf", files.reader(), outcome.configuration).error().text;
  return outcome;
}

Outcome read(const std::string& text) {
  return read(Files{{{"a.conf", text}}});
}

}  // namespace

TEST_CASE("comments, blank lines, blanks around and Windows line ends are passed over") {
  const auto outcome = read("# a node\r\n\r\n  port 7001 \r\n\tmax-ttl\t5s\n#port 7002");
  CHECK(outcome.error.empty());
  CHECK(outcome.configuration.settings.port == 7001);
  CHECK(outcome.configuration.settings.max_ttl == 5s);
  CHECK(outcome.configuration.warnings.empty());
}

TEST_CASE("a line of nothing but blanks is passed over, whatever the blanks") {
  for (const std::string_view blank : {"\f", "\v", "\r", " \t\f\v", ""}) {
    const auto outcome = read(std::string(blank) + "\nport 7001\n" + std::string(blank));
    CHECK(outcome.error.empty());
    CHECK(outcome.configuration.settings.port == 7001);
  }
  CHECK(read(std::string(3, '\0')).error.empty());
  CHECK(read("\f# a comment\vof words").error.empty());
}

TEST_CASE("the last line for a name wins, and the last line needs no end") {
  const auto outcome = read("port 7001\nport 7002");
  CHECK(outcome.configuration.settings.port == 7002);
}

TEST_CASE("quoted words hold blanks and escapes") {
  const auto outcome = read("requirepass \"a b\\x21\"\nlogfile ''\n");
  CHECK(outcome.error.empty());
  CHECK(outcome.configuration.settings.requirepass == "a b!");
}

TEST_CASE("a bad line is shown with its file, its number and the reason") {
  CHECK(read("# one\n\nport abc\nport 7001").error ==
        "*** FATAL CONFIG FILE ERROR (redlock-node) ***\n"
        "Reading a.conf, at line 3\n"
        ">>> 'port abc'\n"
        "port: argument couldn't be parsed into an integer; it takes a number from 0 to 65535 "
        "(0: no TCP)");
  CHECK(read("max-tll 5s").error.ends_with("did you mean 'max-ttl'?"));
  CHECK(read("port \"7001").error.find("quotes of this line do not balance") != std::string::npos);
  CHECK(read("port 7001 # mine").error.ends_with("(a comment needs a line of its own)"));
}

TEST_CASE("a password is not shown in an error") {
  const std::string error = read("requirepass hush hush").error;
  CHECK_FALSE(error.empty());
  CHECK(error.find("hush") == std::string::npos);
  CHECK(read("requirepass \"hush").error.find("hush") == std::string::npos);
}

TEST_CASE("a file that cannot be read is named with the reason") {
  Configuration configuration;
  CHECK(read_config_file("b.conf", Files{}.reader(), configuration).error().text ==
        "the configuration file 'b.conf' cannot be read: No such file or directory");
}

TEST_CASE("include reads another file in its place") {
  const auto outcome = read(Files{{{"a.conf", "port 1\ninclude b.conf\nmaxclients 7\n"},
                                   {"b.conf", "port 2\nmaxclients 6\n"}}});
  CHECK(outcome.error.empty());
  CHECK(outcome.configuration.settings.port == 2);
  CHECK(outcome.configuration.settings.maxclients == 7);
}

TEST_CASE("an error in an included file names that file; a missing one names the line") {
  CHECK(read(Files{{{"a.conf", "include b.conf"}, {"b.conf", "\nport x"}}})
            .error.find("Reading b.conf, at line 2") != std::string::npos);
  const std::string missing = read("port 1\ninclude b.conf").error;
  CHECK(missing.find("Reading a.conf, at line 2") != std::string::npos);
  CHECK(missing.ends_with("No such file or directory"));
}

TEST_CASE("include refuses wildcards and files that include themselves") {
  CHECK(read("include *.conf").error.find("wildcards") != std::string::npos);
  CHECK(read("include a.conf").error.find("circle") != std::string::npos);
  CHECK_FALSE(read("include").error.empty());
}

TEST_CASE("a redis.conf starts, with a warning for each reason and not for each line") {
  const auto outcome = read(
      "bind 127.0.0.1 -::1\nprotected-mode yes\nport 6379\ntcp-backlog 511\ntimeout 0\n"
      "tcp-keepalive 300\ndaemonize no\npidfile /run/redis.pid\nloglevel notice\nlogfile \"\"\n"
      "databases 16\nalways-show-logo no\nset-proc-title yes\nproc-title-template \"{title}\"\n"
      "stop-writes-on-bgsave-error yes\nrdbcompression yes\nrdbchecksum yes\n"
      "dbfilename dump.rdb\nrdb-del-sync-files no\nreplica-serve-stale-data yes\n"
      "replica-read-only yes\nappendonly no\nlua-time-limit 5000\nslowlog-max-len 128\n"
      "notify-keyspace-events \"\"\nhash-max-listpack-entries 512\nhz 10\ndynamic-hz yes\n"
      "client-output-buffer-limit normal 0 0 0\n"
      "client-output-buffer-limit replica 256mb 64mb 60\n"
      "client-output-buffer-limit pubsub 32mb 8mb 60\n");
  CHECK(outcome.error.empty());
  CHECK(outcome.configuration.settings.busy_reply_threshold == 5s);
  const auto& warnings = outcome.configuration.warnings;
  for (const std::string& warning : warnings) UNSCOPED_INFO(warning);
  CHECK(warnings.size() == 5);
  CHECK(warnings.front() == "a.conf:11: databases: there is one database, number 0");
  CHECK(std::count(warnings.begin(), warnings.end(),
                   "a.conf: without effect here, as a node is one thread in the foreground, and "
                   "its loop has no ticks: always-show-logo, set-proc-title, proc-title-template, "
                   "hz, dynamic-hz") == 1);
}

TEST_CASE("users are kept as they are, each a line; what is wrong with them the node says") {
  const auto outcome = read("user a on >x ~a:*\nuser \"b\" +nope\n");
  CHECK(outcome.error.empty());
  CHECK(outcome.configuration.settings.users ==
        std::vector<std::string>{R"(user "a" "on" ">x" "~a:*")", R"(user "b" "+nope")"});
  CHECK(read("user\n").error.find("user takes a name and rules") != std::string::npos);
  CHECK(read("user a >secret \"\n").error.find("secret") == std::string::npos);
}

TEST_CASE("bootstrap is an error in a file, with the reason (rule R1)") {
  CHECK(read("bootstrap yes").error.find("bootstrap is a deed") != std::string::npos);
}

}  // namespace redlock::server
