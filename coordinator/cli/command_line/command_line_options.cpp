// The options of the subcommands, but for those of serve and drill.
#include "base/text/duration_text.h"
#include "base/text/number.h"
#include "base/token.h"
#include "base/version.h"
#include "coordinator/cli/command_line/command_line_parts.h"

#include <string>
#include <string_view>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace redlock::coordinator {
namespace {

// Each has a request at every node at a time, and a link takes no more than a few thousand.
constexpr int kInFlightMax = 1000;

void add_wait(CLI::App& subcommand, Flags& flags, const std::string& standard) {
  subcommand.add_flag("-n,--no-wait", flags.no_wait, "fail at once if it is held");
  add_setting(subcommand, flags, "-w,--wait", "wait", "wait at most so long (" + standard + ")",
              "D");
  subcommand.add_flag("--no-fence", flags.no_fence, "one round trip only, no token");
}

void add_name(CLI::App& subcommand, Options& options) {
  subcommand.add_option("NAME", options.name, "the lock")->required();
}

void add_ttl(CLI::App& subcommand, Flags& flags) {
  add_setting(subcommand, flags, "--ttl", "ttl", "how long it is locked for (30s)", "D");
}

void add_words(CLI::App& subcommand, Flags& flags, Options& options) {
  add_setting(subcommand, flags, "--label", "label",
              "who holds it, for others to read (user@host:pid and the command)", "TEXT");
  subcommand.add_flag("-q,--quiet", options.quiet, "say nothing on standard error");
  subcommand.add_flag("-v,--verbose", options.verbose,
                      "tell of every attempt, and of every node that is missing");
}

// Of what holds a lock itself.
void add_holding(CLI::App& subcommand, Flags& flags, Options& options,
                 const std::string& max_hold) {
  add_name(subcommand, options);
  add_wait(subcommand, flags, "for ever");
  add_ttl(subcommand, flags);
  add_setting(subcommand, flags, "--max-hold", "max-hold", max_hold + " (0: never)", "D");
  subcommand
      .add_option("-E", options.run.exit_if_not_got, "exit status when it is held by another (75)")
      ->check(CLI::Range(0, 255));
  subcommand.add_option("-L", options.run.exit_if_lost, "exit status when the lock was lost (121)")
      ->check(CLI::Range(0, 255));
  add_words(subcommand, flags, options);
}

void add_run(CLI::App& app, Flags& flags, Options& options) {
  CLI::App& subcommand =
      *app.add_subcommand("run", "run a command while holding a lock; the -- may be left out");
  add_holding(subcommand, flags, options, "give up and stop the command after it");
  subcommand.add_flag("--wait-all", options.run.wait_all,
                      "hold the lock until all that the command has started has ended");
  add_setting(subcommand, flags, "--signal", "signal", "how the command is stopped on loss (TERM)",
              "S");
  add_setting(subcommand, flags, "--kill-after", "kill-after",
              "KILL so long after the signal (a tenth of the TTL, at most 5s)", "D");
}

void add_floor(CLI::App& subcommand, std::optional<Token>& floor) {
  subcommand.add_option("--floor", floor, "vouch that no token larger than this was ever given")
      ->type_name("N")
      ->check(CLI::Range(Token{0}, kTokenMax));
}

void add_admit(CLI::App& app, Options& options) {
  CLI::App& subcommand =
      *app.add_subcommand("admit", "give unfenced nodes their part in tokens again");
  subcommand.add_flag("--new-group", options.admit.new_group,
                      "for a group of which no quorum is fenced; wants --floor");
  add_floor(subcommand, options.admit.floor);
}

void add_group(CLI::App& app, Options& options) {
  CLI::App& group =
      *app.add_subcommand("group", "who the nodes of the group are, and to change it");
  group.require_subcommand(0, 1);
  group.fallthrough();
  const auto add = [&](const char* name, const char* what, GroupDeed deed) -> CLI::App& {
    CLI::App& one = *group.add_subcommand(name, what);
    one.callback([&options, deed] { options.group.deed = deed; });
    return one;
  };
  const auto name_old = [&options](CLI::App& one) {
    one.add_option("OLD", options.group.old_node, "a member's address, or its node id")->required();
  };
  const auto name_new = [&options](CLI::App& one) {
    one.add_option("NEW", options.group.new_node, "the newcomer's address")->required();
  };
  add("show", "the members (also without a word)", GroupDeed::show);
  add("create", "make the nodes named a group: its first roster", GroupDeed::create);
  CLI::App& replace = add("replace", "another node in a member's place", GroupDeed::replace);
  name_old(replace);
  name_new(replace);
  name_new(add("add", "a member more", GroupDeed::add));
  name_old(add("remove", "a member less", GroupDeed::remove));
  CLI::App& rescue =
      add("rescue", "make the nodes named the group, as a quorum of its ledgers is lost",
          GroupDeed::rescue);
  rescue
      .add_option("--gone", options.group.gone,
                  "vouch that this member, an address or node id, never comes back")
      ->type_name("NODE");
  add_floor(rescue, options.group.floor);
}

}  // namespace

void add_common(CLI::App& app, Flags& flags, Options& options) {
  add_setting(app, flags, "--nodes", "nodes", "the nodes, separated by commas", "URL,…");
  app.add_option("--config", flags.config, "settings file")->type_name("FILE");
  add_setting(app, flags, "--password-file", "password-file",
              "where the password is, of nodes named without", "FILE");
  add_setting(app, flags, "--tls-ca", "tls-ca",
              "who signs nodes' certificates, of rediss:// (the system's CAs)", "PATH");
  add_setting(app, flags, "--tls-cert", "tls-cert", "the certificate to show to nodes", "FILE");
  add_setting(app, flags, "--tls-key", "tls-key", "the key of that certificate", "FILE");
  add_setting(app, flags, "--node-timeout", "node-timeout",
              "after it a node counts as not answering (500ms)", "D");
  add_setting(app, flags, "--clock-drift", "clock-drift", "the bound on clock rates (0.01)", "D");
  app.add_flag("--unsafe-members", flags.unsafe_members,
               "ask nodes whose settings are not safe, too");
  app.add_flag("--json", options.json, "print JSON");
  app.set_version_flag("-v,--version", "redlock " + std::string(kRedlockVersion));
}

void add_subcommands(CLI::App& app, Flags& flags, Options& options) {
  add_run(app, flags, options);
  add_holding(*app.add_subcommand("hold", "hold a lock until Ctrl-C, and release it then"), flags,
              options, "give up and release it after it");
  CLI::App& acquire = *app.add_subcommand("acquire", "acquire a lock and print its value");
  add_name(acquire, options);
  add_ttl(acquire, flags);
  add_wait(acquire, flags, "none");
  add_words(acquire, flags, options);
  for (const char* name : {"extend", "release"}) {
    CLI::App& subcommand = *app.add_subcommand(name, std::string(name) + " a lock by its value");
    add_name(subcommand, options);
    subcommand.add_option("--value", options.value, "its value; - reads it from standard input")
        ->type_name("V");
    if (std::string_view(name) == "extend") add_ttl(subcommand, flags);
  }
  add_name(*app.add_subcommand("holder", "who holds a lock"), options);
  app.add_subcommand("list", "all locks that are held, or those that match a pattern")
      ->add_option("pattern", options.pattern, "glob-style: 'backup-*' (all)");
  add_status(app, flags, options);
  add_admit(app, options);
  add_group(app, options);
  CLI::App& up =
      *app.add_subcommand("up", "start nodes and a front door on this machine, for development");
  up.add_option("--count", options.up.count, "how many (5)")->check([](const std::string& text) {
    const auto count = parse_int64(text);
    const bool is_good = count && *count >= 1 && *count <= 63 && *count % 2 == 1;
    return is_good ? std::string()
                   : "an odd number from 1 to 63 is wanted, as a quorum is more than half of them";
  });
  up.add_option("--port", options.up.first_port, "the first one's port (7001)");
  up.add_option("--dir", options.up.folder, "where they keep their state (redlock-up)");
  up.add_option("--node-binary", options.up.node_program, "the redlock-node program");
  CLI::Option* const door_port =
      up.add_option("--door-port", options.up.door_port,
                    "the front door's port (6379, or the next that is free)")
          ->check(CLI::Range(1, 65535));
  up.add_flag("--no-door", options.up.no_door, "no front door beside them")->excludes(door_port);
  add_serve(app, flags, options);
  add_bench(app, flags, options);
  add_drills(app, flags, options);
}

void add_bench(CLI::App& app, Flags& flags, Options& options) {
  CLI::App& subcommand =
      *app.add_subcommand("bench", "how many locks the nodes give to this machine, and how fast");
  add_setting(subcommand, flags, "--for", "for",
              fmt::format("how long it goes on ({})", duration_text(options.bench.length)), "D");
  subcommand.add_option("--in-flight", options.bench.in_flight, "how many locks at once (50)")
      ->check(CLI::Range(1, kInFlightMax));
  add_setting(subcommand, flags, "--ttl", "ttl", "how long each is locked for at most (30s)", "D");
  subcommand.add_flag("--no-fence", flags.no_fence, "one round trip only, no token");
  subcommand
      .add_option("--html", options.bench.html_file,
                  "where the report is put, a page for a browser")
      ->type_name("OUT");
}

Problem read_bench(const GivenSettings& settings, Options& options) {
  return read_length(settings, options.bench.length);
}

}  // namespace redlock::coordinator
