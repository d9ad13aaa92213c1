// redlock group: who the nodes of the group are, and the changes of that (rules G).
//
// Each change can be repeated after whatever ended it: one that was chosen is found done, one that
// was begun is finished first.
#include "base/roster.h"
#include "base/text/duration_text.h"
#include "base/text/json.h"
#include "coordinator/cli/node_report.h"
#include "coordinator/cli/output.h"
#include "coordinator/client/node_address.h"
#include "coordinator/commands/commands.h"
#include "coordinator/health/group_plans.h"
#include <redlock/client.h>

#include <algorithm>
#include <future>
#include <string>
#include <thread>
#include <utility>

#include <fmt/format.h>

namespace redlock::coordinator {
namespace {

// While something is waited for.
constexpr Duration kLongestSleep = 1s;

using States = std::vector<NodeState>;

int fail(const Options& options, const Error& error) {
  report_failure(options, error);
  return exit_code_of(error);
}

// What waiting does not change.
int refuse(const Options& options, std::string why) {
  report_failure(options, {ErrorCode::invalid, std::move(why), {}});
  return exit_code::kConfiguration;
}

// An address in any form that --nodes takes: redis://127.0.0.1:7001 is the member 127.0.0.1:7001.
GroupMember* find(GroupRoster& roster, const std::string& address_or_id) {
  const auto parsed = parse_node_address(address_or_id);
  const std::string address = parsed ? parsed.value().text() : address_or_id;
  const auto found =
      std::find_if(roster.members.begin(), roster.members.end(), [&](const GroupMember& member) {
        return member.node == address || member.id == address_or_id;
      });
  return found == roster.members.end() ? nullptr : &*found;
}

const NodeState* state_of(const States& states, const GroupMember& member) {
  const auto found = std::find_if(states.begin(), states.end(), [&](const NodeState& node) {
    return node.node_id == member.id && node.ledger_id == member.ledger;
  });
  return found == states.end() ? nullptr : &*found;
}

std::string why_not_reached(const States& states, const GroupMember& member) {
  const auto at = std::find_if(states.begin(), states.end(), [&](const NodeState& node) {
    return node.answer.node == member.node;
  });
  return at == states.end() ? "not reached" : fmt::format("not reached: {}", at->state);
}

std::string standing_text(const States& states, const GroupMember& member) {
  const NodeState* node = state_of(states, member);
  if (node == nullptr) return why_not_reached(states, member);
  if (node->state == "recovering" && node->delay_left) {
    return fmt::format("votes in {}", spoken_duration(*node->delay_left));
  }
  return node->fenced.value_or(true) ? "votes" : "votes, without tokens yet";
}

JsonObject json_of(const GroupRoster& roster, const States& states) {
  JsonArray members;
  for (const GroupMember& member : roster.members) {
    members.add(JsonObject{{"node", member.node},
                           {"id", member.id},
                           {"ledger", member.ledger},
                           {"since", member.since},
                           {"standing", standing_text(states, member)}});
  }
  return {{"epoch", roster.epoch}, {"members", members}};
}

void print(const Options& options, const GroupRoster& roster, const States& states) {
  if (options.json) return print_out("{}\n", json_of(roster, states).text());
  if (roster.epoch == 0) {
    return print_out("no roster yet: `redlock group create` makes these {} nodes a group\n",
                     states.size());
  }
  std::size_t width = 0;
  for (const GroupMember& member : roster.members) width = std::max(width, member.node.size());
  print_out("epoch {}, {} members\n", roster.epoch, roster.members.size());
  for (const GroupMember& member : roster.members) {
    print_out("  {:<{}}  since {:<3}  {}\n", member.node, width, member.since,
              standing_text(states, member));
  }
}

// With the credentials of the first node where it has none of its own, as the group's members are
// asked (rule G7).
std::string with_credentials(const std::string& address, const std::vector<std::string>& nodes) {
  if (nodes.empty() || address.find('@') != std::string::npos) return address;
  const std::string first = nodes.front().substr(0, nodes.front().find(','));
  const std::size_t end = first.rfind('@');
  if (end == std::string::npos) return address;
  const auto past_scheme = [](const std::string& url) {
    const std::size_t scheme = url.find("://");
    return scheme == std::string::npos ? 0 : scheme + 3;
  };
  const std::size_t begin = past_scheme(first);
  std::string whole = address;
  return whole.insert(past_scheme(address), first, begin, end + 1 - begin);
}

// What it promised to another group it would forget. One that was a member here once, or has heard
// more than whoever asks, is of no other.
bool is_of_other_group(const NodeState& node, const GroupRoster& roster) {
  return node.roster.epoch > 0 && descent_of(roster, node.roster) != Descent::same_group &&
         descent_of(node.roster, roster) != Descent::same_group;
}

// A node that is no member yet, at an address: what it tells of itself.
Result<GroupMember, Error> newcomer(const Options& options, const std::string& address,
                                    const GroupRoster& roster) {
  ClientOptions alone = options.client;
  alone.nodes = {with_credentials(address, options.client.nodes)};
  alone.as_named = true;  // it may know a roster, whose members are not meant
  auto client = Client::start(std::move(alone));
  if (!client) return client.error();
  auto states = client->status();
  if (!states) return states.error();
  const NodeState& node = states->front();
  if (node.answer.kind != AnswerKind::yes) {
    return Error{ErrorCode::no_quorum, fmt::format("{} does not answer", address), {node.answer}};
  }
  if (node.ledger_id.empty()) {
    return Error{ErrorCode::invalid,
                 fmt::format("{} is no redlock-node that knows groups", address),
                 {node.answer}};
  }
  if (is_of_other_group(node, roster)) {
    return Error{
        ErrorCode::invalid,
        fmt::format("{} is of another group (epoch {}): remove it there, and start it with "
                    "an empty folder",
                    address, node.roster.epoch),
        {node.answer}};
  }
  return GroupMember{node.answer.node, node.node_id, node.ledger_id, 0};
}

Result<Client, Error> start_client(const Options& options) {
  ClientOptions settings = options.client;
  settings.hear_everyone = true;
  return Client::start(std::move(settings));
}

class GroupCommand {
 public:
  explicit GroupCommand(const Options& options, Client client)
      : options_(options), client_(std::move(client)) {}

  int run() {
    if (!look()) return exit_code_;
    switch (options_.group.deed) {
      case GroupDeed::show:
        print(options_, roster_, states_);
        return exit_code::kDone;
      case GroupDeed::create:
        return create();
      case GroupDeed::replace:
        return replace();
      case GroupDeed::add:
        return add();
      case GroupDeed::remove:
        return remove();
      case GroupDeed::rescue:
        return rescue();
    }
    return exit_code::kDone;
  }

 private:
  // A member that takes another's place is met in a second round.
  bool look() {
    std::promise<void> ready;
    client_.when_ready([&ready] { ready.set_value(); });
    ready.get_future().wait();
    auto states = client_.status();
    if (!states) {
      exit_code_ = fail(options_, states.error());
      return false;
    }
    states_ = std::move(states).value();
    roster_ = newest(states_);
    std::vector<NodeAnswer> answers;
    for (const NodeState& node : states_) answers.push_back(node.answer);
    const auto answers_us = [](const NodeAnswer& answer) { return answer.kind == AnswerKind::yes; };
    if (std::any_of(answers.begin(), answers.end(), answers_us)) return true;
    const bool denied = std::any_of(answers.begin(), answers.end(), [](const NodeAnswer& answer) {
      return answer.kind == AnswerKind::denied;
    });
    exit_code_ = fail(options_, {denied ? ErrorCode::denied : ErrorCode::no_quorum,
                                 "no node answers", std::move(answers)});
    return false;
  }

  int create() {
    if (roster_.epoch > 0) {
      return refuse(options_, fmt::format("these nodes are a group already (epoch {}): `redlock "
                                          "group` shows it",
                                          roster_.epoch));
    }
    auto wanted = first_roster(states_);
    return wanted ? change(*wanted) : fail(options_, wanted.error());
  }

  int replace() {
    GroupRoster wanted = next();
    if (wanted.epoch == 0) return no_roster();
    GroupMember* old = find(wanted, options_.group.old_node);
    auto member = newcomer(options_, options_.group.new_node, roster_);
    if (!member) return fail(options_, member.error());
    if (old == nullptr) {
      if (find(wanted, member->id) != nullptr) return has_joined(*member);
      return refuse(options_, fmt::format("{} is no member of the group (epoch {})",
                                          options_.group.old_node, roster_.epoch));
    }
    if (const GroupMember* there = find(wanted, member->id); there != nullptr && there != old) {
      return refuse(options_, fmt::format("{} is a member already", member->node));
    }
    if (old->ledger == member->ledger && old->node == member->node) return done();
    const std::uint64_t since = old->ledger == member->ledger ? old->since : wanted.epoch;
    *old = std::move(member).value();
    old->since = since;
    return change(wanted);
  }

  int add() {
    GroupRoster wanted = next();
    if (wanted.epoch == 0) return no_roster();
    auto member = newcomer(options_, options_.group.new_node, roster_);
    if (!member) return fail(options_, member.error());
    if (find(wanted, member->id) != nullptr) return has_joined(*member);
    member->since = wanted.epoch;
    wanted.members.push_back(std::move(member).value());
    return change(wanted);
  }

  int remove() {
    GroupRoster wanted = next();
    if (wanted.epoch == 0) return no_roster();
    const GroupMember* old = find(wanted, options_.group.old_node);
    if (old == nullptr) {
      complain(fmt::format("{} is no member: nothing is to be done", options_.group.old_node));
      return done();
    }
    if (wanted.members.size() == 1) return refuse(options_, "the last member stays");
    wanted.members.erase(wanted.members.begin() + (old - wanted.members.data()));
    return change(wanted);
  }

  // The newcomers wait before they are admitted, and so does this.
  int rescue() {
    ClientOptions as_named = options_.client;
    as_named.as_named = true;
    auto named = Client::start(std::move(as_named));
    if (!named) return fail(options_, named.error());
    const auto states = named->status();
    if (!states) return fail(options_, states.error());
    const auto plan = plan_rescue(*states, {.gone = gone(), .floor = options_.group.floor});
    if (!plan && plan.error().code == ErrorCode::invalid) {
      return refuse(options_, plan.error().text);
    }
    if (!plan) return fail(options_, plan.error());
    if (!plan->is_told) {
      const auto told = named->rescue_group(plan->roster);
      if (!told) return fail(options_, told.error());
      if (roster_.epoch == 0) {
        complain(
            "no member has kept its ledger: to what runs already, such as a front door, this is "
            "another group until it is started anew");
      }
      auto client = start_client(options_);  // which takes it over from its first node
      if (!client) return fail(options_, client.error());
      client_ = std::move(client).value();
    }
    if (const int exit_code = await_newcomers(); exit_code != exit_code::kDone) return exit_code;
    if (plan->is_new_group) {
      // The floor that plan_rescue() has checked, or that the nodes tell.
      const auto admitted = client_.admit({.new_group = true, .floor = options_.group.floor});
      if (!admitted) return fail(options_, admitted.error());
      if (!look()) return exit_code_;
    }
    return done();
  }

  std::vector<std::string> gone() {
    std::vector<std::string> gone = options_.group.gone;
    for (std::string& name : gone) {
      if (const GroupMember* member = find(roster_, name)) name = member->id;
    }
    return gone;
  }

  // Until no node is recovering; every lock from before has run out then.
  int await_newcomers() {
    bool is_told = false;
    while (look()) {
      Duration longest = 0ns;
      for (const NodeState& node : states_) {
        longest =
            std::max<Duration>({longest, node.delay_left.value_or(0ns),
                                node.fenced.value_or(true) ? 0ns : node.admit_in.value_or(0ns)});
      }
      if (longest == 0ns) return exit_code::kDone;
      if (!std::exchange(is_told, true)) {
        complain(fmt::format("waiting {} for the locks from before it", spoken_duration(longest)));
      }
      std::this_thread::sleep_for(std::min<Duration>(longest, kLongestSleep));
    }
    return exit_code_;
  }

  // The group's roster with another epoch; 0: it has none.
  GroupRoster next() const {
    GroupRoster wanted = roster_;
    if (wanted.epoch > 0) ++wanted.epoch;
    return wanted;
  }
  int no_roster() const {
    return refuse(options_, "these nodes have no roster yet: begin with `redlock group create`");
  }

  int done() {
    print(options_, roster_, states_);
    return exit_code::kDone;
  }

  int has_joined(const GroupMember& member) {
    complain(fmt::format("{} is a member already: nothing is to be done", member.node));
    return done();
  }

  // Waits as long as rule G3 wants.
  int change(const GroupRoster& wanted) {
    while (true) {
      auto changed = client_.change_group(wanted);
      if (!changed) return fail(options_, changed.error());
      if (changed->wait > 0ns) {
        complain(
            fmt::format("the last change is too young: waiting {} for the locks from before it",
                        spoken_duration(changed->wait)));
        std::this_thread::sleep_for(changed->wait);
        continue;
      }
      // A list that is older than the roster: the client goes by that from now on.
      if (changed->roster.epoch == roster_.epoch) continue;
      if (!changed->is_wanted) {
        return refuse(options_,
                      fmt::format("another change came first (epoch {}): look at `redlock "
                                  "group`, and begin again where it is still wanted",
                                  changed->roster.epoch));
      }
      roster_ = changed->roster;
      if (auto states = client_.status()) states_ = std::move(states).value();
      return done();
    }
  }

  const Options& options_;
  Client client_;
  States states_;
  GroupRoster roster_;
  int exit_code_ = exit_code::kDone;
};

}  // namespace

int command_group(const Options& options) {
  auto client = start_client(options);
  if (!client) return fail(options, client.error());
  return GroupCommand(options, std::move(client).value()).run();
}

}  // namespace redlock::coordinator
