#include "coordinator/cli/command_line/command_line.h"

#include "coordinator/link/node_facts.h"
#include "tests/support/temporary_folder.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::coordinator;

namespace {

constexpr const char* kThree = "a:1,b:2,c:3";

// As the shell splits it; an argument has no blanks in it here.
CommandLine parsed(const std::string& text, const char* nodes = kThree) {
  setenv("REDLOCK_NODES", nodes, 1);
  unsetenv("REDLOCK_VALUE");
  std::istringstream stream("redlock " + text);
  std::vector<std::string> words;
  for (std::string subcommand; stream >> subcommand;) words.push_back(subcommand);
  std::vector<char*> raw;
  raw.reserve(words.size());
  for (std::string& subcommand : words) raw.push_back(subcommand.data());
  return parse_command_line(static_cast<int>(raw.size()), raw.data());
}

}  // namespace

TEST_CASE("run takes everything after -- as the command") {
  const CommandLine line = parsed("run -n job --ttl 10s -- sh -c -n --ttl");
  REQUIRE(line.subcommand == Subcommand::run);
  CHECK(line.options.name == "job");
  CHECK(line.options.run.command == std::vector<std::string>{"sh", "-c", "-n", "--ttl"});
  CHECK(line.options.wait == Duration(0));
  CHECK(line.options.ttl == 10s);
}

TEST_CASE("run takes what stands behind the name as the command, too") {
  const auto command_of = [](const std::string& text) {
    const CommandLine line = parsed(text);
    CAPTURE(text, line.text);
    CHECK(line.options.name == "job");
    return line.options.run.command;
  };
  using Words = std::vector<std::string>;
  CHECK(command_of("run job make all") == Words{"make", "all"});
  CHECK(command_of("run -w 5s --ttl 10s job sh -c -n --ttl") == Words{"sh", "-c", "-n", "--ttl"});
  CHECK(command_of("--node-timeout 1s run -w5s --ttl=10s job true") == Words{"true"});
  CHECK(command_of("run job git checkout -- file") == Words{"git", "checkout", "--", "file"});
  CHECK(command_of("run job -n make") == Words{"make"});
  CHECK(command_of("run job -- make -- all") == Words{"make", "--", "all"});
  CHECK(parsed("run -w 5s job true").options.wait == 5s);
  CHECK(parsed("run job").exit_code == exit_code::kUsage);
  CHECK(parsed("run -- true").exit_code == exit_code::kUsage);
}

TEST_CASE("a lock's name may begin with -, behind --") {
  CHECK(parsed("acquire --ttl 5s -- -job").options.name == "-job");
  CHECK(parsed("holder -- --json").options.name == "--json");
}

TEST_CASE("a slip in a subcommand or an option is answered with what may have been meant") {
  const auto said = [](const std::string& text) {
    const CommandLine line = parsed(text);
    CHECK(line.exit_code == exit_code::kUsage);
    return line.text;
  };
  CHECK(said("rum job") ==
        "redlock: there is no subcommand 'rum'; did you mean 'run'? "
        "(redlock --help)\n");
  CHECK(said("--ttl 5s aquire job").starts_with("redlock: there is no option '--ttl'"));
  CHECK(said("aquire --ttl 5s job").find("'aquire'; did you mean 'acquire'?") != std::string::npos);
  CHECK(said("frobnicate").starts_with("redlock: there is no subcommand 'frobnicate' ("));
  CHECK(said("run --tll 5s job true").find("no option '--tll'; did you mean '--ttl'?") !=
        std::string::npos);
  CHECK(said("acquire --no-fense job").find("did you mean '--no-fence'?") != std::string::npos);
  CHECK(said("acquire --nods=a:1 job").find("'--nods'; did you mean '--nodes'?") !=
        std::string::npos);
  CHECK(said("rnu job true").find("did you mean 'run'?") != std::string::npos);
  CHECK(said("hlep").find("did you mean 'help'?") != std::string::npos);
  CHECK(said("unlock job").find("did you mean 'release'?") != std::string::npos);
  CHECK(said("group crate").find("no word of group 'crate'; did you mean 'create'?") !=
        std::string::npos);
  CHECK(said("run -job true").find("a name that begins with - stands behind --") !=
        std::string::npos);
  CHECK(said("run -w job -- true").starts_with("redlock: --wait: 'job' is not a duration"));
  CHECK(said("run -w 5s -- true").find("NAME is required") != std::string::npos);
  CHECK(said("up --count 4").find("an odd number from 1 to 63") != std::string::npos);
  CHECK(said("up --count 65").find("an odd number from 1 to 63") != std::string::npos);
  CHECK(said("drill chas").find("chaos") != std::string::npos);
}

TEST_CASE("no line of a help is wider than a terminal") {
  for (const std::string word :
       {"",      "run",    "hold",  "acquire",       "extend",        "release",      "holder",
        "list",  "status", "admit", "group",         "group replace", "group rescue", "up",
        "serve", "bench",  "drill", "drill restart", "drill chaos",   "drill check"}) {
    std::istringstream help(parsed("help " + word).text);
    for (std::string line; std::getline(help, line);) {
      INFO(word << ": " << line);
      CHECK(line.size() <= 80 + std::string_view("…").size() - 1);
    }
  }
}

TEST_CASE("help WORD is WORD --help") {
  CHECK(parsed("help").text == parsed("--help").text);
  CHECK(parsed("help run").text == parsed("run --help").text);
  CHECK(parsed("help run").text.find("--max-hold") != std::string::npos);
  CHECK(parsed("--nodes a,b,c help run").text == parsed("run --help").text);
  CHECK(parsed("help rum").text.find("did you mean 'run'?") != std::string::npos);
}

TEST_CASE("run waits for ever, acquire not at all, unless told otherwise") {
  CHECK_FALSE(parsed("run job -- true").options.wait.has_value());
  CHECK(parsed("acquire job").options.wait == Duration(0));
  CHECK(parsed("run -w 5s job -- true").options.wait == 5s);
  CHECK(parsed("acquire job --wait 1m").options.wait == 1min);
}

TEST_CASE("the kill delay is a tenth of the TTL, at most 5s, unless told otherwise") {
  CHECK(parsed("run --ttl 20s job -- true").options.run.kill_after == 2s);
  CHECK(parsed("run --ttl 10m job -- true").options.run.kill_after == 5s);
  CHECK(parsed("run --kill-after 1s job -- true").options.run.kill_after == 1s);
  CHECK(parsed("run --kill-after 29s job -- true").exit_code == exit_code::kUsage);
}

TEST_CASE("the node timeout is at most a third of the TTL") {
  CHECK(parsed("acquire job").options.client.node_timeout == 500ms);
  CHECK(parsed("acquire job --ttl 600ms").options.client.node_timeout == 200ms);
  CHECK(parsed("acquire job --ttl 600ms --node-timeout 300ms").exit_code == exit_code::kUsage);
}

TEST_CASE("nor is it longer than the client takes, whatever the TTL") {
  CHECK(parsed("acquire job --ttl 4h --node-timeout 1h").options.client.node_timeout == 1h);
  CHECK(parsed("acquire job --ttl 4h --node-timeout 61m").exit_code == exit_code::kUsage);
}

TEST_CASE("usage errors are 64, configuration errors 78, and both say what to do") {
  CHECK(parsed("").exit_code == exit_code::kUsage);
  CHECK(parsed("acquire").exit_code == exit_code::kUsage);
  CHECK(parsed("acquire job --bogus").exit_code == exit_code::kUsage);
  CHECK(parsed("acquire job --ttl soon").exit_code == exit_code::kUsage);
  CHECK(parsed("acquire job --ttl 1ms").exit_code == exit_code::kUsage);
  CHECK(parsed("run job").exit_code == exit_code::kUsage);
  CHECK(parsed("release job").exit_code == exit_code::kUsage);
  const CommandLine unnamed = parsed("status", "");
  CHECK(unnamed.exit_code == exit_code::kConfiguration);
  CHECK_THAT(unnamed.text, Catch::Contains("REDLOCK_NODES"));
  CHECK(parsed("status", "a:1,a:1").exit_code == exit_code::kConfiguration);
  CHECK(parsed("status --nodes a:1,a:1").exit_code == exit_code::kUsage);
  CHECK(parsed("status --config /nonexistent").exit_code == exit_code::kConfiguration);
}

TEST_CASE("a duration needs a unit wherever the command line has one, but for 0") {
  for (const char* words :
       {"acquire job --ttl 30", "acquire job -w 10", "run --wait 10 job -- true",
        "run --max-hold 60 job -- true", "run --kill-after 1 job -- true", "extend job --ttl 30",
        "status --node-timeout 1", "bench --for 10", "bench --ttl 10", "drill chaos --for 60",
        "drill restart --ttl 3", "drill clock --ttl 1.5"}) {
    CAPTURE(words);
    const CommandLine line = parsed(words);
    CHECK(line.exit_code == exit_code::kUsage);
    CHECK_THAT(line.text, Catch::Contains("a duration needs a unit: "));
  }
  CHECK_THAT(parsed("acquire job -w 10").text,
             Catch::Contains("--wait: 10: a duration needs a unit: 10s, 10ms, 10m"));
  CHECK(parsed("run --wait 0 job -- true").options.wait == Duration(0));
  CHECK(parsed("acquire job --ttl 1.5s").options.ttl == 1500ms);
  CHECK(parsed("drill chaos --for 1.5m").options.drill.length == 90s);
}

TEST_CASE("a wrong command line fails in the eval around it, too") {
  const std::string forgets =
      "unset REDLOCK_VALUE REDLOCK_TOKEN REDLOCK_VALIDITY_MS REDLOCK_VALID_UNTIL; ";
  CHECK(parsed("acquire").for_shell == forgets + "(exit 64)\n");
  CHECK(parsed("acquire job --ttl 30").for_shell == forgets + "(exit 64)\n");
  CHECK(parsed("--bogus acquire job").for_shell == forgets + "(exit 64)\n");
  CHECK(parsed("acquire job", "").for_shell == forgets + "(exit 78)\n");
  CHECK(parsed("extend job").for_shell == "(exit 64)\n");
  for (const char* quiet : {"acquire --json", "acquire --help", "acquire job", "release job",
                            "holder", "", "run acquire", "status acquire"}) {
    CAPTURE(quiet);
    CHECK(parsed(quiet).for_shell.empty());
  }
}

TEST_CASE("flags win over the environment, and stand before or after the subcommand") {
  CHECK(parsed("status --nodes d:4").options.client.nodes == std::vector<std::string>{"d:4"});
  CHECK(parsed("--nodes d:4 status").options.client.nodes == std::vector<std::string>{"d:4"});
}

TEST_CASE("a drill kills no nodes but its own and those that --nodes names") {
  const CommandLine own = parsed("drill restart");
  REQUIRE(own.subcommand == Subcommand::drill);
  CHECK(own.options.client.nodes.empty());
  CHECK(own.options.ttl == 3s);
  const CommandLine named =
      parsed("drill restart --nodes d,e,f --kill-command k --start-command s --ttl 9s");
  REQUIRE(named.subcommand == Subcommand::drill);
  CHECK(named.options.client.nodes == std::vector<std::string>{"d,e,f"});
  CHECK(named.options.ttl == 9s);
  CHECK(parsed("drill restart --nodes d,e,f").exit_code == exit_code::kUsage);
  CHECK(parsed("drill restart --kill-command k").exit_code == exit_code::kUsage);
}

TEST_CASE("a drill that is not there is told which there are") {
  for (const char* words : {"drill", "drill earthquake", "drill --json"}) {
    const CommandLine line = parsed(words);
    CHECK(line.exit_code == exit_code::kUsage);
    CHECK_THAT(line.text, Catch::Contains("restart chaos"));
  }
}

TEST_CASE("each drill has options of its own") {
  const CommandLine line = parsed("drill chaos --minutes 10 --seed 1");
  REQUIRE(line.subcommand == Subcommand::drill);
  CHECK(line.options.drill.which == Drill::chaos);
  CHECK(line.options.drill.length == 10min);
  CHECK(line.options.drill.seed == 1);
  CHECK(parsed("drill chaos --for 90s --locks 5").options.drill.length == 90s);
  CHECK_FALSE(line.options.drill.replace);
  CHECK(parsed("drill chaos --replace").options.drill.replace);
  CHECK(parsed("drill chaos --replace").options.ttl == 500ms);
  CHECK(parsed("drill chaos --replace --ttl 1s").options.ttl == 1s);
  for (const char* wrong :
       {"drill chaos --kill-command k", "drill restart --seed 1", "drill chaos --nodes d,e,f",
        "drill chaos --for 1s --minutes 1", "drill chaos --for 3d", "drill chaos --minutes 0",
        "drill chaos --clients 1", "drill chaos --ttl 500ms", "drill chaos --replace --ttl 400ms",
        "drill run --replace"}) {
    CHECK(parsed(wrong).exit_code == exit_code::kUsage);
  }
}

TEST_CASE("a bench goes on for 10 s with 50 locks in flight unless told otherwise") {
  const CommandLine line = parsed("bench");
  REQUIRE(line.subcommand == Subcommand::bench);
  CHECK(line.options.bench.length == 10s);
  CHECK(line.options.bench.in_flight == 50);
  CHECK(line.options.fence);
  CHECK(parsed("bench --for 2m --in-flight 1000 --no-fence").options.bench.length == 2min);
  for (const char* words : {"bench --for 999ms", "bench --for 25h", "bench --in-flight 0",
                            "bench --in-flight 1001", "bench lock"}) {
    INFO(words);
    CHECK(parsed(words).exit_code == exit_code::kUsage);
  }
  CHECK(parsed("bench", "").exit_code == exit_code::kConfiguration);
}

TEST_CASE("an even number of nodes is warned of") {
  CHECK(parsed("status").warnings.empty());
  CHECK(parsed("status", "a:1,b:2").warnings.size() == 1);
}

TEST_CASE("help and version are no errors; help lists the exit codes") {
  const CommandLine help = parsed("--help");
  CHECK(help.exit_code == exit_code::kDone);
  for (const char* code : {"64", "69", "75", "77", "78", "121", "122", "126"}) {
    CHECK_THAT(help.text, Catch::Contains(code));
  }
  CHECK(parsed("--version").exit_code == exit_code::kDone);
}

TEST_CASE("signals have names and numbers") {
  CHECK(parsed("run --signal SIGINT job -- true").options.run.signal == SIGINT);
  CHECK(parsed("run --signal hup job -- true").options.run.signal == SIGHUP);
  CHECK(parsed("run --signal 10 job -- true").options.run.signal == 10);
  CHECK(parsed("run --signal NONSENSE job -- true").exit_code == exit_code::kUsage);
}

TEST_CASE("a token is wanted unless --no-fence, or the file, says otherwise (rule F4)") {
  CHECK(parsed("acquire job").options.fence);
  CHECK_FALSE(parsed("acquire job --no-fence").options.fence);
  CHECK_FALSE(parsed("run --no-fence job -- true").options.fence);
  const TemporaryFolder folder;
  const auto with_file = [&folder](const std::string& setting, const std::string& words) {
    const std::string file = folder.path() + "/redlock.conf";
    std::ofstream(file) << setting << '\n';
    return parsed(words + " --config " + file);
  };
  CHECK_FALSE(with_file("no-fence yes", "acquire job").options.fence);
  CHECK(with_file("no-fence no", "acquire job").options.fence);
  CHECK_FALSE(with_file("no-fence no", "acquire job --no-fence").options.fence);
  const CommandLine wrong = with_file("no-fence maybe", "acquire job");
  CHECK(wrong.exit_code == exit_code::kConfiguration);
  CHECK_THAT(wrong.text, Catch::Contains("'maybe' is neither yes nor no"));
}

TEST_CASE("admit takes a floor and no lock") {
  const CommandLine plain = parsed("admit");
  CHECK(plain.subcommand == Subcommand::admit);
  CHECK_FALSE(plain.options.admit.new_group);
  CHECK(parsed("admit --new-group").options.admit.new_group);
  CHECK(parsed("admit --new-group --floor 9007199254740991").options.admit.floor == kTokenMax);
  CHECK(parsed("admit --floor 5").options.admit.floor == 5);
  for (const char* wrong : {"admit --new-group --floor 9007199254740992",
                            "admit --new-group --floor -1", "admit printer"}) {
    CHECK(parsed(wrong).exit_code == exit_code::kUsage);
  }
}

TEST_CASE("passwords may stand in files of their own, or be credentials of the unit") {
  const TemporaryFolder folder;
  const auto write = [&](const std::string& name, std::string_view text) {
    std::ofstream(folder.path() + "/" + name) << text;
    return folder.path() + "/" + name;
  };
  const auto of_clients = [](const CommandLine& line) {
    for (const ServeOptions::OfSessions& given : line.options.serve.of_sessions) {
      if (given.name == "requirepass") return given.value;
    }
    return line.text;
  };
  const std::string file = write("door", "open sesame\n");
  CHECK(of_clients(parsed("serve --requirepass-file " + file)) == "open sesame");
  CHECK(of_clients(parsed("serve")).empty());
  CHECK(parsed("serve --requirepass x --requirepass-file " + file).exit_code == exit_code::kUsage);
  CHECK(parsed("serve --requirepass-file " + write("empty", "\n")).exit_code == exit_code::kUsage);
  setenv("REDLOCK_REQUIREPASS_FILE", file.c_str(), 1);
  CHECK(of_clients(parsed("serve")) == "open sesame");
  unsetenv("REDLOCK_REQUIREPASS_FILE");

  setenv("CREDENTIALS_DIRECTORY", folder.path().c_str(), 1);
  CHECK(parsed("status").options.client.password.empty());  // there is none of this name
  write("nodes-password", "of the nodes\n");
  write("requirepass", "of the clients\n");
  CHECK(parsed("status").options.client.password == "of the nodes");
  CHECK(parsed("status --password-file " + file).options.client.password == "open sesame");
  CHECK(of_clients(parsed("serve")) == "of the clients");
  CHECK(of_clients(parsed("serve --requirepass said")) == "said");
  unsetenv("CREDENTIALS_DIRECTORY");
}
