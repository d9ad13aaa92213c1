#include "server/settings/command_line.h"

#include <algorithm>

#include <catch2/catch.hpp>

namespace redlock::server {
namespace {

using Deed = NodeCommandLine::Deed;
using Arguments = std::vector<std::string>;

// One file, a.conf, standard input, and the environment.
Result<NodeCommandLine> read(const Arguments& arguments, std::string file = "",
                             std::string standard_input = "",
                             std::vector<std::string> environment = {}) {
  const ConfigurationInput input{
      .read_file = [&](const std::string& path) -> Result<std::string> {
        if (path != "a.conf") return Failure{"No such file or directory"};
        return file;
      },
      .read_standard_input = [&]() -> Result<std::string> { return standard_input; },
      .environment = std::move(environment)};
  return read_command_line(arguments, input);
}

Settings settings_of(const Arguments& arguments) {
  const auto line = read(arguments);
  INFO(line.error().text);
  REQUIRE(line);
  return line.value().configuration.settings;
}

}  // namespace

TEST_CASE("without arguments it runs with the defaults") {
  const auto line = read({});
  REQUIRE(line);
  CHECK(line.value().deed == Deed::run);
  CHECK(line.value().config_file.empty());
  CHECK(line.value().configuration.settings.port == 6379);
}

TEST_CASE("the last word on a setting wins: file, environment, standard input, flags") {
  const std::string file = "port 1\nmaxclients 1\ntimeout 1\ntcp-backlog 1\n";
  const auto line =
      read({"a.conf", "--timeout", "3", "-"}, file, "maxclients 2\ntimeout 2\n",
           {"REDLOCK_NODE_TIMEOUT=9", "REDLOCK_NODE_MAXCLIENTS=9", "REDLOCK_NODE_TCP_BACKLOG=9"});
  REQUIRE(line);
  const Settings& settings = line.value().configuration.settings;
  CHECK(line.value().config_file == "a.conf");
  CHECK(settings.port == 1);
  CHECK(settings.maxclients == 2);
  CHECK(settings.timeout == 3s);
  CHECK(settings.tcp_backlog == 9);
}

TEST_CASE("'-' may come first, and after the file") {
  CHECK(read({"-"}, "", "port 5").value().configuration.settings.port == 5);
  CHECK(read({"-", "--maxclients", "4"}, "", "port 5").value().configuration.settings.port == 5);
  CHECK(read({"a.conf", "-"}, "port 4", "port 5").value().configuration.settings.port == 5);
}

TEST_CASE("a flag takes all words up to the next flag") {
  const Settings settings = settings_of({"--port", "7001", "--bind", "127.0.0.1", "-::1", "::2",
                                         "--requirepass", "a b", "--logfile", ""});
  CHECK(settings.port == 7001);
  CHECK(settings.bind == std::vector<std::string>{"127.0.0.1", "-::1", "::2"});
  CHECK(settings.requirepass == "a b");
}

TEST_CASE("as with Redis: one argument may hold name and value, and a value may start with --") {
  CHECK(settings_of({"--port 7001"}).port == 7001);
  CHECK(settings_of({"--requirepass", "--secret"}).requirepass == "--secret");
  CHECK(settings_of({"--save", "--port", "7001"}).port == 7001);
  CHECK(settings_of({"--port", "7001", "--save"}).port == 7001);
  CHECK(settings_of({"--include", "a.conf"}).port == 6379);
}

TEST_CASE("version and help ask for nothing else") {
  for (const char* word : {"-v", "--version"}) {
    CHECK(read({word}).value().deed == Deed::show_version);
  }
  for (const char* word : {"-h", "--help"}) CHECK(read({word}).value().deed == Deed::show_help);
  CHECK(read({"missing.conf", "--help"}).value().deed == Deed::show_help);
}

TEST_CASE("help fits on one screen and names the deeds") {
  const std::string_view help = help_text();
  CHECK(std::count(help.begin(), help.end(), '\n') <= 40);
  CHECK(help.find("--bootstrap") != std::string_view::npos);
  std::size_t longest = 0;
  for (std::size_t start = 0; start < help.size();) {
    const std::size_t end = help.find('\n', start);
    longest = std::max(longest, end - start);
    start = end + 1;
  }
  CHECK(longest <= 80);
}

TEST_CASE("bootstrap is a deed with an optional floor (rule R1)") {
  const auto plain = read({"--bootstrap", "--dir", "/d"});
  REQUIRE(plain);
  CHECK(plain.value().deed == Deed::bootstrap);
  CHECK(plain.value().bootstrap_floor == 0);
  CHECK(plain.value().configuration.settings.dir == "/d");
  CHECK(read({"a.conf", "--dir", "/d", "--bootstrap", "4711"}).value().bootstrap_floor == 4711);
  for (const char* bad : {"x", "9007199254740992", "1.5", "007"}) {
    INFO(bad);
    CHECK_FALSE(read({"--bootstrap", bad}));
  }
  CHECK_FALSE(read({"a.conf"}, "bootstrap yes"));
}

TEST_CASE("a bad flag is shown like a bad line") {
  CHECK(read({"--port", "abc"}).error().text ==
        "*** FATAL CONFIG FILE ERROR (redlock-node) ***\n"
        "Reading the command line\n"
        ">>> 'port abc'\n"
        "port: argument couldn't be parsed into an integer; it takes a number from 0 to 65535 "
        "(0: no TCP)");
  CHECK(read({"--bind"}).error().text.find("wrong number of arguments") != std::string::npos);
  CHECK(read({"--requirepass", "hush", "hush"}).error().text.find("hush") == std::string::npos);
  CHECK(read({"-"}, "", "\nport x").error().text.find("Reading standard input, at line 2") !=
        std::string::npos);
}

TEST_CASE("every setting is a variable, and other variables are left alone") {
  const auto line = read({}, "", "",
                         {"PATH=/bin", "REDLOCK_NODES=redis://a:1", "REDLOCK_NODE_MAX_TTL=10s",
                          "REDLOCK_NODE_BIND=* -::*", "REDLOCK_NODE_REQUIREPASS=a \"b=c",
                          "REDLOCK_NODE_LOGFILE=", "redlock_node_port=1", "="});
  INFO(line.error().text);
  REQUIRE(line);
  const Settings& settings = line.value().configuration.settings;
  CHECK(settings.max_ttl == 10s);
  CHECK(settings.bind == std::vector<std::string>{"*", "-::*"});
  CHECK(settings.requirepass == "a \"b=c");
  CHECK(settings.logfile.empty());
  CHECK(settings.port == 6379);
}

TEST_CASE("a bad variable is shown like a bad line, and one that is no setting is an error") {
  const auto error = [](const std::string& variable) {
    return read({}, "", "", {variable}).error().text;
  };
  CHECK(error("REDLOCK_NODE_PORT=abc") ==
        "*** FATAL CONFIG FILE ERROR (redlock-node) ***\n"
        "Reading the environment\n"
        ">>> 'REDLOCK_NODE_PORT=abc'\n"
        "port: argument couldn't be parsed into an integer; it takes a number from 0 to 65535 "
        "(0: no TCP)");
  CHECK(error("REDLOCK_NODE_MAX_TL=10s") ==
        "*** FATAL CONFIG FILE ERROR (redlock-node) ***\n"
        "Reading the environment\n"
        ">>> 'REDLOCK_NODE_MAX_TL=(not shown)'\n"
        "there is no setting 'max-tl'; did you mean 'max-ttl'?");
  CHECK(error("REDLOCK_NODE_PASSWORD=hush").find("hush") == std::string::npos);
  CHECK(error("REDLOCK_NODE_NODE_ID=x").find("\nnode-id: ") != std::string::npos);
  CHECK_FALSE(error("REDLOCK_NODE_").empty());
  CHECK_FALSE(error("REDLOCK_NODE_PORT").empty());
  CHECK(error("REDLOCK_NODE_BOOTSTRAP=yes").find("bootstrap is a deed") != std::string::npos);
}

TEST_CASE("a directive of Redis without a meaning warns in the environment, too") {
  const auto line = read({}, "", "", {"REDLOCK_NODE_HZ=10", "REDLOCK_NODE_SAVE=900 1"});
  REQUIRE(line);
  const std::vector<std::string>& warnings = line.value().configuration.warnings;
  REQUIRE(warnings.size() == 2);
  for (const std::string& warning : warnings) CHECK(warning.starts_with("the environment: "));
}

TEST_CASE("a password may stand in a file of its own, or be the unit's credential") {
  std::string text = "open sesame\r\nand a note\n";
  const auto read_with = [&](const Arguments& arguments) {
    return read_command_line(
        arguments,
        {.read_file = [&](const std::string& path) -> Result<std::string> {
           if (path == "secret") return text;
           if (path == "/run/credentials/a/requirepass") return std::string("of systemd");
           return Failure{"No such file or directory"};
         },
         .read_standard_input = [] { return Result<std::string>(std::string()); },
         .environment = {"CREDENTIALS_DIRECTORY=/run/credentials/a"},
         .has_file =
             [](const std::string& path) { return path == "/run/credentials/a/requirepass"; }});
  };
  const auto password = [&](const Arguments& arguments) {
    const auto line = read_with(arguments);
    return line ? line.value().configuration.settings.requirepass : line.error().text;
  };
  CHECK(password({"--requirepass-file", "secret"}) == "open sesame");
  CHECK(password({}) == "of systemd");
  CHECK(password({"--requirepass", "said"}) == "said");
  CHECK(password({"--requirepass", "said", "--requirepass-file", "secret"}).find("contradict") !=
        std::string::npos);
  CHECK(password({"--requirepass-file", "absent"}) ==
        "the password cannot be read from absent: No such file or directory");
  text = "\nsecond line\n";
  CHECK(password({"--requirepass-file", "secret"}).find("is empty") != std::string::npos);
  // A unit without such a credential has no password, and a folder that is not there is no mistake.
  CHECK(settings_of({}).requirepass.empty());
  CHECK(read({}, "", "", {"CREDENTIALS_DIRECTORY=/nowhere"}));
}

TEST_CASE("help and version do not look at the environment") {
  CHECK(read({"--help"}, "", "", {"REDLOCK_NODE_PORT=abc"}));
  CHECK(read({"--version"}, "", "", {"REDLOCK_NODE_PORT=abc"}));
}

TEST_CASE("what is neither file nor flag is refused with a hint") {
  CHECK(read({"-p", "7001"}).error().text ==
        "'-p' is not an option: settings are given as --name value; see redlock-node --help");
  CHECK_FALSE(read({"--"}));
  CHECK_FALSE(read({"--\"port"}));
  CHECK(read({"-", "a.conf"}).error().text.find("comes first") != std::string::npos);
  CHECK(read({"b.conf"}).error().text ==
        "the configuration file 'b.conf' cannot be read: No such file or directory");
}

TEST_CASE("a node that nobody could reach is an error of the command line") {
  CHECK_FALSE(read({"--port", "0"}));
  CHECK(read({"--port", "0", "--unixsocket", "/run/a.sock"}));
}

TEST_CASE("warnings say where they come from") {
  const auto line = read({"--save", "900", "1", "--hz", "10"});
  REQUIRE(line);
  CHECK(line.value().configuration.warnings ==
        std::vector<std::string>{
            "the command line: save: locks are not kept in RDB files: see dir and restart-delay",
            "the command line: without effect here, as a node is one thread in the foreground, "
            "and its loop has no ticks: hz"});
}

}  // namespace redlock::server
