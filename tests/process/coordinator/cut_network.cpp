// A drill's network for the test of it: two members, `node` and `client`, and a deed a line.
//
//   cut_network FOLDER
//
//   start MEMBER WORD…     a process in its network, which goes on beside this one: its id
//   run MEMBER WORD…       one that is waited for: what it wrote
//   cut FROM TO            from here on nothing that one sends reaches the other
//   heal FROM TO
//   slow MEMBER MS
//   unslow MEMBER
//
// It answers each with a line, and the first, when all stands: netem or tbf, by which it slows.
// What fails is told on standard error and ends it: 77 when there can be no such network
// here, 1 else.
#include "coordinator/cli/exit_code.h"
#include "coordinator/drill/surroundings/own_network.h"
#include "coordinator/process/child_process.h"

#include <cstdio>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace {

using namespace redlock;
using namespace redlock::coordinator;
using namespace redlock::drill;

int fail(const std::string& text, int status = exit_code::kNo) {
  fmt::print(stderr, "{}\n", text);
  return status;
}

class Deeds : public ChildProcess::User {
 public:
  Deeds(Stage& stage, OwnNetwork& network, std::string folder)
      : stage_(stage), network_(network), folder_(std::move(folder)) {}

  Result<std::string> take(const std::string& line) {
    std::istringstream input(line);
    std::vector<std::string> words;
    for (std::string word; input >> word;) words.push_back(word);
    const std::string deed = words.at(0);
    const std::string who = words.at(1);
    words.erase(words.begin(), words.begin() + 2);
    if (deed == "start") return start(network_.namespace_of(who), std::move(words));
    if (deed == "run") {
      return run_to_end(stage_, std::move(words), folder_ + "/run", network_.namespace_of(who));
    }
    const Status done = change(deed, who, words);
    if (!done) return done.error();
    return std::string("done");
  }

 private:
  Status change(const std::string& deed, const std::string& who,
                const std::vector<std::string>& words) {
    if (deed == "cut") return network_.cut({{who, words.at(0)}});
    if (deed == "heal") return network_.heal({{who, words.at(0)}});
    if (deed == "unslow") return network_.unslow(who);
    return network_.slow(who, std::chrono::milliseconds(std::stoi(words.at(0))));
  }

  Result<std::string> start(int network_namespace, std::vector<std::string> words) {
    processes_.push_back(std::make_unique<ChildProcess>(stage_.loop(), *this));
    ProcessCommand command;
    command.words = std::move(words);
    command.output_file = folder_ + "/started";
    command.network_namespace = network_namespace;
    if (const auto failure = processes_.back()->start(command)) return Failure{failure->text};
    return std::to_string(processes_.back()->pid());
  }
  void on_exit(const ExitStatus&) override {}

  Stage& stage_;
  OwnNetwork& network_;
  std::string folder_;
  std::vector<std::unique_ptr<ChildProcess>> processes_;
};

int serve(const std::string& folder) {
  if (auto entered = enter_own_namespaces(); !entered) {
    return fail(entered.error().text, exit_code::kDenied);
  }
  Stage stage;
  OwnNetwork network(stage, folder);
  auto made = network.set_up({{"node", "10.0.1.1"}, {"client", "10.0.2.1"}});
  if (!made) return fail(made.error().text, exit_code::kDenied);
  std::cout << (network.has_netem() ? "netem" : "tbf") << std::endl;
  Deeds deeds(stage, network, folder);
  for (std::string line; std::getline(std::cin, line);) {
    const auto told = deeds.take(line);
    if (!told) return fail(line + ": " + told.error().text);
    std::cout << told.value() << std::endl;
  }
  return exit_code::kDone;
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) return fail("usage: cut_network FOLDER", exit_code::kUsage);
  return serve(words[1]);
}
