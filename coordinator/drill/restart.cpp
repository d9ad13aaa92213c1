#include "coordinator/drill/restart.h"

#include "base/text/duration_text.h"
#include "coordinator/client/holder.h"
#include "coordinator/quorum/quorum.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace redlock::drill {
namespace {

// For whatever takes a moment: far longer than it does, so that only a defect reaches it.
constexpr Duration kPatience = 10s;
constexpr Duration kAskEvery = 20ms;
// How much later than it told a node may grant locks again: for a busy machine.
constexpr Duration kLateMax = 500ms;
constexpr std::size_t kNameDigits = 6;

// "node 5", "nodes 4 and 5", "nodes 1, 2 and 3": counted from 1, both ends included.
std::string node_list(std::size_t first, std::size_t last) {
  if (first == last) return fmt::format("node {}", first);
  std::vector<std::size_t> numbers;
  for (std::size_t i = first; i < last; ++i) numbers.push_back(i);
  return fmt::format("nodes {} and {}", fmt::join(numbers, ", "), last);
}

std::string state_text(const NodeState& state) {
  if (!state.delay_left || *state.delay_left <= 0ns) return state.state;
  return fmt::format("{}, no new locks for {} ms", state.state, ceil_ms(*state.delay_left));
}

// Of a client over one node.
NodeAnswer answer_of_one(const Error& error) {
  return error.nodes.empty() ? NodeAnswer{.node = {}, .text = error.text} : error.nodes[0];
}

}  // namespace

RestartDrill::RestartDrill(Stage& stage, Nodes& nodes, StepReport& report,
                           RestartDrillSettings settings)
    : stage_(stage), nodes_(nodes), report_(report), settings_(std::move(settings)) {}

bool RestartDrill::tell(Half half) {
  half_ = half;
  differences_.clear();
  // Nobody else's, on nodes that serve others as well.
  name_ = "drill-" + coordinator::new_lock_value().substr(0, kNameDigits);
  const bool is_off = half == Half::violation;
  report_.begin_half(is_off ? "off" : "auto",
                     is_off ? "restart-delay off: a lock with two holders"
                            : "restart-delay auto: B is refused until A's lock has run out");
  const bool told = steps();
  put_away();
  if (stage_.interrupted() != 0) return false;
  report_.end_half(is_off ? "As told: a node that forgot the lock gave it to B as well."
                          : "As told: at no time did A and B both hold the lock.",
                   differences_);
  return told && differences_.empty();
}

bool RestartDrill::steps() {
  if (!nodes_serve() || !a_acquires() || !kill_one() || !start_it_again() || !b_tries()) {
    return false;
  }
  if (half_ == Half::violation || b_lock_) return true;
  return b_waits() && it_grants_again();
}

bool RestartDrill::nodes_serve() {
  if (auto started = nodes_.start(half_ == Half::violation ? "off" : "auto"); !started) {
    return fails("the nodes could not be started", started.error().text);
  }
  killed_ = coordinator::quorum_of(count()) - 1;
  const auto states = ask_states();
  if (!states) return fails("the nodes", "no answer in time");
  Step step{"nodes", fmt::format("{} nodes run; each says in what state it is:", count())};
  bool all_grant = true;
  for (const NodeState& state : *states) {
    step.nodes.push_back({state.answer.node, state_text(state)});
    all_grant = all_grant && state.grants;
  }
  report_.step(step);
  if (!all_grant) {
    differs("the story begins with nodes that all grant locks");
    return false;
  }
  for (std::size_t i = 0; i < count(); ++i) {
    if (!await_node(i)) return fails(fmt::format("node {}", i + 1), "no answer in time");
  }
  return true;
}

bool RestartDrill::a_acquires() {
  std::vector<std::string> addresses = nodes_.addresses();
  for (std::size_t i = killed_ + 1; i < count(); ++i) {
    addresses[i] = fmt::format("unix://{}/node-{}", settings_.empty_folder, i + 1);
  }
  a_ = client(addresses);
  report_.step(
      {"cut", fmt::format("A's addresses of {} lead nowhere, as if the network to them "
                          "were cut; A acquires {} for {}",
                          node_list(killed_ + 2, count()), name_, duration_text(settings_.ttl))});
  const auto got = acquire(*a_, 0s);
  if (!got) return fails("A's attempt", "no answer in time");
  if (!*got) {
    report_.step({"a_refused", "A does not get it: " + got->error().text, answers(got->error())});
    differs(fmt::format("A should hold the lock on {}", node_list(1, killed_ + 1)));
    return false;
  }
  const Duration at = stage_.elapsed();
  a_lock_ = got->value();
  const std::int64_t valid_ms = floor_ms(a_lock_->validity_left());
  report_.step({"a_holds",
                fmt::format("A holds it on {} of {}, and may rely on it for {} ms", killed_ + 1,
                            count(), valid_ms),
                ask_holders(),
                {{"validity_ms", valid_ms}},
                at});
  return stage_.interrupted() == 0;
}

bool RestartDrill::kill_one() {
  const auto killed = nodes_.kill(killed_);
  if (!killed) return fails(killed_node() + " could not be killed", killed.error().text);
  report_.step({"kill", fmt::format("{} is killed: {}", killed_node(), killed.value())});
  return true;
}

bool RestartDrill::start_it_again() {
  const Duration began = stage_.elapsed();
  if (auto started = nodes_.start_again(killed_); !started) {
    return fails(killed_node() + " could not be started again", started.error().text);
  }
  const auto states = await_node(killed_) ? ask_states() : std::nullopt;
  if (!states) return fails(killed_node(), "it does not answer after its start");
  const Duration at = stage_.elapsed();
  const NodeState& state = states->at(killed_);
  report_.step({"start",
                fmt::format("{} is started again, answers after {} ms, and says: {}", killed_node(),
                            ceil_ms(at - began), state_text(state)),
                ask_holders(),
                {{"delay_left_ms", ceil_ms(state.delay_left.value_or(0ns))}},
                at});
  return true;
}

bool RestartDrill::b_tries() {
  b_ = client(nodes_.addresses());
  b_began_ = stage_.elapsed();
  const auto got = acquire(*b_, 0s);
  if (!got) return fails("B's attempt", "no answer in time");
  if (*got) {
    if (!b_holds(got->value())) {
      differs("A's lock ran out before B's first try: too slow a start, try a longer --ttl");
    }
    return true;
  }
  const Error& error = got->error();
  report_.step({"b_refused", fmt::format("B, who reaches all nodes, is refused: {}", error.text),
                answers(error)});
  if (half_ == Half::violation) {
    differs("without the restart delay B should have got it as well: no violation was shown");
    return false;
  }
  if (error.nodes.at(killed_).kind != AnswerKind::recovering) {
    differs(fmt::format("B should have been told that {} is recovering", killed_node()));
  }
  return true;
}

// B got the lock, at its first try or while it waited: whether A may still rely on it.
bool RestartDrill::b_holds(const Lock& lock) {
  const Duration a_left = a_lock_->validity_left();
  const Duration at = stage_.elapsed();
  b_lock_ = lock;
  const bool two = a_left > 0ns;
  const std::string whether =
      two ? fmt::format("while A may rely on it for another {} ms: TWO HOLDERS", floor_ms(a_left))
          : "after A's lock had run out";
  report_.step(
      {two ? "two_holders" : "b_holds",
       fmt::format("B holds it, {} ms after its first try, {}", ceil_ms(at - b_began_), whether),
       ask_holders(),
       {{"a_validity_left_ms", floor_ms(a_left)}},
       at});
  if (half_ == Half::refusal && two) {
    differs(fmt::format("{} granted a lock that A still held: two holders at once", killed_node()));
  }
  return two;
}

bool RestartDrill::b_waits() {
  const Duration a_left = a_lock_->validity_left();
  report_.step({"b_waits", fmt::format("B waits for it; A may rely on it for another {} ms",
                                       floor_ms(a_left))});
  const auto got = acquire(*b_, a_left + settings_.ttl + kPatience);
  if (!got) return fails("B's attempt", "no answer in time");
  if (*got) {
    b_holds(got->value());
    return true;
  }
  report_.step({"b_refused", "B does not get it: " + got->error().text, answers(got->error())});
  differs("B should have got the lock once A's had run out");
  return false;
}

// The drill ends when the group is whole again: it waits as long as the node itself says.
bool RestartDrill::it_grants_again() {
  const Duration began = stage_.elapsed();
  auto states = ask_states();
  const auto delay_left = [&] { return states->at(killed_).delay_left.value_or(0ns); };
  if (states && !states->at(killed_).grants) {
    report_.step({"recovering",
                  fmt::format("{} says: {}", killed_node(), state_text(states->at(killed_))),
                  {},
                  {{"delay_left_ms", ceil_ms(delay_left())}}});
    const Duration late = stage_.elapsed() + delay_left() + kLateMax;
    if (!stage_.pause(delay_left())) return false;
    for (states = ask_states(); states && !states->at(killed_).grants; states = ask_states()) {
      if (stage_.elapsed() > late || !stage_.pause(kAskEvery)) break;
    }
  }
  if (!states) return fails(killed_node(), "no answer in time");
  const NodeState& state = states->at(killed_);
  report_.step({"grants", fmt::format("{} says, {} ms later: {}", killed_node(),
                                      ceil_ms(stage_.elapsed() - began), state_text(state))});
  if (!state.grants) differs(killed_node() + " should grant locks after the time that it told");
  return state.grants;
}

// Also after a failure or an interruption: no lock, no process and no link stays behind.
void RestartDrill::put_away() {
  stage_.clean_up();
  for (auto [client, lock] : {std::pair(&b_, &b_lock_), std::pair(&a_, &a_lock_)}) {
    if (*client && *lock) (*client)->release(**lock, [](const Result<Done, Error>&) {});
    if (*client) {
      stage_.answer<Done>([&](const auto& done) { (*client)->finish([=] { done(Done{}); }); },
                          kPatience);
    }
    lock->reset();
    client->reset();
  }
  if (auto ended = nodes_.end(); !ended) differs(ended.error().text);
}

// --- asking ---

Client RestartDrill::client(const std::vector<std::string>& addresses) {
  ClientOptions options = settings_.client;
  options.nodes = addresses;
  options.hear_everyone = true;
  options.unsafe_members = true;  // half of the drill is about such
  // The command line has checked the addresses and the options.
  return Client::start_on(stage_.loop().raw(), options).value();
}

bool RestartDrill::make_ready(Client& client) {
  return stage_
      .answer<Done>([&](const auto& done) { client.when_ready([=] { done(Done{}); }); }, kPatience)
      .has_value();
}

std::optional<Result<Lock, Error>> RestartDrill::acquire(Client& client, Duration wait) {
  if (!make_ready(client)) return std::nullopt;
  return stage_.answer<Result<Lock, Error>>(
      [&](const auto& done) {
        // Without tokens: they do not bear on who holds the lock, and plain Redis gives none.
        client.acquire(name_, {.ttl = settings_.ttl, .wait = wait, .fence = false}, done);
      },
      wait + kPatience);
}

std::optional<std::vector<NodeState>> RestartDrill::ask_states() {
  Client all = client(nodes_.addresses());
  if (!make_ready(all)) return std::nullopt;
  using Told = Result<std::vector<NodeState>, Error>;
  const auto told = stage_.answer<Told>([&](const auto& done) { all.status(done); }, kPatience);
  if (!told || !*told) return std::nullopt;
  return told->value();
}

std::vector<NodeSaid> RestartDrill::ask_holders() {
  std::vector<NodeSaid> said;
  for (std::size_t i = 0; i < count(); ++i) {
    said.push_back({address_text(nodes_.addresses()[i]), holder_text(ask_holder(i))});
  }
  return said;
}

RestartDrill::HolderAnswer RestartDrill::ask_holder(std::size_t node) {
  Client one = client({nodes_.addresses()[node]});
  if (!make_ready(one)) return std::nullopt;
  return stage_.answer<Result<std::optional<Holder>, Error>>(
      [&](const auto& done) { one.holder(name_, done); }, kPatience);
}

// A node that has just been started may tell its state before it executes anything else.
bool RestartDrill::await_node(std::size_t node) {
  const Duration give_up = stage_.elapsed() + kPatience;
  for (;;) {
    const HolderAnswer told = ask_holder(node);
    if (told && *told) return true;
    if (told && answer_of_one(told->error()).kind == AnswerKind::recovering) return true;
    if (stage_.elapsed() > give_up || !stage_.pause(kAskEvery)) return false;
  }
}

// --- telling ---

std::string RestartDrill::holder_text(const HolderAnswer& told) const {
  if (!told) return "no answer in time";
  if (!*told) return answer_of_one(told->error()).text;
  const std::optional<Holder>& holder = told->value();
  if (!holder) return "free";
  std::string_view who = "another's";
  if (a_lock_ && holder->value == a_lock_->value) who = "A's";
  if (b_lock_ && holder->value == b_lock_->value) who = "B's";
  return fmt::format("{} lock, {} ms left", who, ceil_ms(holder->left));
}

std::vector<NodeSaid> RestartDrill::answers(const Error& error) const {
  std::vector<NodeSaid> said;
  for (std::size_t i = 0; i < error.nodes.size(); ++i) {
    said.push_back({address_text(nodes_.addresses()[i]), error.nodes[i].text});
  }
  return said;
}

std::string RestartDrill::killed_node() const {
  return fmt::format("node {}", killed_ + 1);
}

void RestartDrill::differs(std::string text) {
  differences_.push_back(std::move(text));
}

bool RestartDrill::fails(const std::string& what, const std::string& why) {
  if (stage_.interrupted() == 0) differs(fmt::format("{}: {}", what, why));
  return false;
}

}  // namespace redlock::drill
