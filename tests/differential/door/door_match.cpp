#include "tests/differential/door/door_match.h"

#include "base/text/number.h"
#include "coordinator/front_door/served/door_errors.h"
#include "tests/differential/comparison.h"

#include <algorithm>
#include <limits>

namespace redlock::differential {
namespace {

using protocol::CommandSpec;
using protocol::Reply;

// What is left of a TTL: the door tells of it what its padding leaves, to the millisecond.
constexpr std::int64_t kLeftApartMs = 5000;
// A lock lives on at the nodes behind its client's TTL for what a door adds.
constexpr Duration kPadding = 2s;

server::Settings long_lived() {
  server::Settings settings;
  settings.max_ttl = std::chrono::milliseconds(std::int64_t{3'153'600'000'000});
  return settings;
}

server::NodeStart start_at(Instant now) {
  server::NodeStart start;
  start.run_id = start.node_id = std::string(40, 'e');
  start.started_at = now;
  return start;
}

bool is_played(const CommandSpec& spec) {
  constexpr std::string_view kOthers[] = {
      "dbsize",  "keys",        "scan",         "randomkey", "flushall",
      "flushdb", "script|kill", "script|debug", "wait",      "object|idletime"};
  if (std::find(std::begin(kOthers), std::end(kOthers), spec.name) != std::end(kOthers)) {
    return false;
  }
  constexpr std::string_view kGroups[] = {"string", "generic", "hash", "scripting", "transactions"};
  constexpr std::string_view kSessions[] = {"ping", "echo", "select", "client|getname",
                                            "client|setname"};
  const auto is_among = [](const auto& names, std::string_view name) {
    return std::find(std::begin(names), std::end(names), name) != std::end(names);
  };
  return is_among(kGroups, spec.group) || is_among(kSessions, spec.name);
}

const server::CommandTable& node_commands() {
  static const server::CommandTable commands{server::all_families()};
  return commands;
}

bool is_played(const Generator& generator, const Step& step) {
  if (step.is_bytes || step.words.empty()) return false;
  const bool tells_others =
      std::any_of(step.words.begin(), step.words.end(), [](const std::string& word) {
        return lower_case(word).find("publish") != std::string::npos;
      });
  if (tells_others) return false;
  const std::string name = lower_case(step.words[0]);
  if (generator.serves(name)) return true;
  return step.words.size() > 1 && generator.serves(name + "|" + lower_case(step.words[1]));
}

// Locks as lock libraries have them, on the keys of the step before.
void add_lock_steps(Random& random, const Step& before, Sequence& sequence) {
  if (before.words.size() < 2) return;
  const std::string& key = before.words[1];
  const std::string value = std::to_string(random.below(3));
  const std::string ttl = std::to_string(3'600'000 + random.below(1000) * 3'000);
  switch (random.below(5)) {
    case 0:
      sequence.push_back({.client = "", .words = {"SET", key, value, "NX", "PX", ttl}});
      break;
    case 1:
      sequence.push_back({.client = "b", .words = {"DEL", key}});
      break;
    case 2:
      sequence.push_back({.client = "", .words = {"DELIFEQ", key, value}});
      break;
    case 3:
      sequence.push_back({.client = "", .words = {"PEXPIRE", key, ttl}});
      break;
    default:
      sequence.push_back({.client = "b", .words = {"GET", key}});
  }
}

// Both name their own max-ttl.
bool are_same_ttl_refusals(const Reply& a, const Reply& b) {
  constexpr std::string_view kBegin = "ERR a TTL of ";
  return a.is_error() && b.is_error() && a.text().starts_with(kBegin) &&
         b.text().starts_with(kBegin);
}

// An extension never brings a deadline forward. A door that does not know what another one did
// takes for one what is none; then a lock lives for longer than it would in one Redis.
bool is_same(const Words& words, const Reply& door, const Reply& node, unsigned doors) {
  if (are_same_ttl_refusals(door, node)) return true;
  const std::int64_t apart = doors > 1 ? std::numeric_limits<std::int64_t>::max() : kLeftApartMs;
  return agree(rule_of(views(words)), door, node, apart);
}

}  // namespace

Generator door_generator() {
  std::vector<const CommandSpec*> specs;
  for (const server::CommandTable::Entry& entry : node_commands().entries()) {
    if (is_played(entry.command->spec)) specs.push_back(&entry.command->spec);
  }
  return Generator(specs);
}

Sequence door_sequence(const Generator& generator, std::uint64_t seed, std::size_t steps) {
  Random random(seed);
  Sequence sequence;
  for (Step& step : generator.make(seed, steps)) {
    if (!is_played(generator, step)) continue;
    step.words = at_moment(step.words, std::chrono::seconds(1'700'000'000));
    sequence.push_back(std::move(step));
    if (random.below(100) < 40) add_lock_steps(random, Step(sequence.back()), sequence);
  }
  return sequence;
}

DoorMatch::DoorMatch(unsigned doors)
    : world_(5, doors, {}, 1ms, long_lived()),
      settings_(world_.door().settings()),
      node_(server::all_families(), settings_, start_at(world_.nodes().now()),
            {[] { return server::ProcessFacts{}; }, log_}),
      doors_(doors) {
  node_.begin_run(world_.nodes().now_of_both_clocks());
}

DoorMatch::Client& DoorMatch::client(const std::string& name) {
  const auto found = clients_.find(name);
  if (found != clients_.end()) return found->second;
  Client& client = clients_[name];
  for (unsigned number = 1; number <= doors_; ++number) {
    client.doors.push_back(world_.connect(number));
  }
  client.node = &node_.open_session({}, world_.nodes().now_of_both_clocks());
  return client;
}

// A transaction stays with its door, and while somebody watches all do, as a door that watches sees
// no more of another than the record. A script that was loaded is known to the door that loaded it,
// and a client's name to its connection.
Reply DoorMatch::ask_door(Client& client, const Words& words) {
  const std::string name = lower_case(words[0]);
  const bool is_first = name == "script" || name == "evalsha" || name == "client";
  if (is_first || client.in_multi || watchers_.contains(&client)) {
    client.turn = client.in_multi || watchers_.contains(&client) ? client.turn : 0;
  } else {
    client.turn = watchers_.empty() ? turn_++ % doors_ : (*watchers_.begin())->turn;
  }
  if (name == "watch") watchers_.insert(&client);
  const bool ends = client.in_multi && (name == "exec" || name == "discard");
  if (ends || name == "unwatch") watchers_.erase(&client);
  DoorClient& asked = client.doors[client.turn];
  asked.send(words);
  asked.wait_for_answer();
  return asked.take_reply();
}

Reply DoorMatch::ask_node(Client& client, const Words& words) {
  protocol::OutputBuffer bytes;
  protocol::write_request(views(words), bytes);
  node_.receive(*client.node, bytes.view(), world_.nodes().now_of_both_clocks());
  for (int turn = 0; client.node->has_given_way() && turn < 1000; ++turn) {
    node_.do_due_work(world_.nodes().now_of_both_clocks());
  }
  auto parsed = protocol::parse_reply(client.node->output().view());
  Reply reply =
      parsed.state == protocol::ParsedReply::State::complete ? parsed.reply.owned() : Reply::none();
  client.node->output().clear();
  return reply;
}

void DoorMatch::pass(Duration length) {
  world_.nodes().pass(length + kPadding);
}

std::optional<DoorDifference> DoorMatch::play_step(const Step& step, std::size_t at) {
  Client& from = client(step.client);
  const std::string name = lower_case(step.words[0]);
  const bool was_in_multi = from.in_multi;
  const Reply door = ask_door(from, step.words);
  const Reply node = ask_node(from, step.words);
  if (step.wait > 0ns) pass(step.wait);
  ++compared_;
  if (name == "multi" && door == Reply::ok()) {
    from.in_multi = true;
    from.queued.clear();
  } else if (name == "exec" || name == "discard" || name == "reset") {
    from.in_multi = false;
  } else if (was_in_multi && door.text() == "QUEUED") {
    from.queued.push_back(step.words);
  }
  const auto is_alike = [this](const Words& words, const Reply& a, const Reply& b) {
    return is_same(words, a, b, doors_);
  };
  const bool same = name == "exec" && was_in_multi
                        ? agree_on_exec(from.queued, door, node, is_alike)
                        : is_alike(step.words, door, node);
  if (same) return std::nullopt;
  return DoorDifference{at, door.to_string(), node.to_string()};
}

std::optional<DoorDifference> DoorMatch::play(const Sequence& sequence) {
  for (std::size_t at = 0; at < sequence.size(); ++at) {
    if (auto difference = play_step(sequence[at], at)) return difference;
  }
  return std::nullopt;
}

}  // namespace redlock::differential
