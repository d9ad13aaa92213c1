#include "tests/simulation/scenario.h"

#include "tests/simulation/doors/naive_user.h"
#include "tests/simulation/forms.h"

#include <array>
#include <charconv>
#include <functional>
#include <optional>

#include <fmt/format.h>

namespace redlock::simulation {
namespace {

constexpr std::string_view kFirstLine = "redlock-sim scenario 1";
constexpr unsigned kNodesMax = 9;  // each has a digit for its id

constexpr std::array kDeedNames = {std::string_view("want"),
                                   std::string_view("kill"),
                                   std::string_view("power-loss"),
                                   std::string_view("lose-disk"),
                                   std::string_view("stop"),
                                   std::string_view("pause-node"),
                                   std::string_view("pause-client"),
                                   std::string_view("kill-client"),
                                   std::string_view("cut"),
                                   std::string_view("cut-requests"),
                                   std::string_view("cut-replies"),
                                   std::string_view("hang-up"),
                                   std::string_view("slow"),
                                   std::string_view("mislead"),
                                   std::string_view("slow-disk"),
                                   std::string_view("broken-disk"),
                                   std::string_view("set-wall"),
                                   std::string_view("jump-node"),
                                   std::string_view("jump-client"),
                                   std::string_view("race-node"),
                                   std::string_view("race-client"),
                                   std::string_view("swap"),
                                   std::string_view("release-for"),
                                   std::string_view("ask"),
                                   std::string_view("hand-over"),
                                   std::string_view("replace-node"),
                                   std::string_view("faulty-disk"),
                                   std::string_view("suspend-node"),
                                   std::string_view("suspend-client"),
                                   std::string_view("set-max-ttl"),
                                   std::string_view("change"),
                                   std::string_view("relist"),
                                   std::string_view("use"),
                                   std::string_view("leave"),
                                   std::string_view("pause-door"),
                                   std::string_view("suspend-door"),
                                   std::string_view("kill-door")};
static_assert(kDeedNames.size() == static_cast<std::size_t>(kLastDeed) + 1);

constexpr std::array kHoldingNames = {std::string_view("release"), std::string_view("run-out"),
                                      std::string_view("keep")};

template <class T, std::size_t N>
std::optional<T> find_name(const std::array<std::string_view, N>& names, std::string_view name) {
  for (std::size_t i = 0; i < N; ++i) {
    if (names[i] == name) return static_cast<T>(i);
  }
  return std::nullopt;
}

// A field's text and back. Durations are nanoseconds with their unit, so that nothing is rounded.
std::string to_text(Duration value) {
  return fmt::format("{}ns", value.count());
}
std::string to_text(std::int64_t value) {
  return fmt::format("{}", value);
}
std::string to_text(std::uint64_t value) {
  return fmt::format("{}", value);
}
std::string to_text(unsigned value) {
  return fmt::format("{}", value);
}
std::string to_text(bool value) {
  return value ? "yes" : "no";
}
std::string to_text(Holding value) {
  return std::string(holding_name(value));
}
std::string to_text(const std::vector<std::int64_t>& values) {
  std::string text;
  for (const std::int64_t value : values) text += (text.empty() ? "" : ",") + to_text(value);
  return text;
}

template <class Number>
bool from_text(std::string_view text, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}
bool from_text(std::string_view text, Duration& value) {
  Duration::rep count = 0;
  if (!text.ends_with("ns") || !from_text(text.substr(0, text.size() - 2), count)) return false;
  value = Duration(count);
  return true;
}
bool from_text(std::string_view text, bool& value) {
  value = text == "yes";
  return value || text == "no";
}
bool from_text(std::string_view text, Holding& value) {
  const auto found = find_name<Holding>(kHoldingNames, text);
  if (found) value = *found;
  return found.has_value();
}
bool from_text(std::string_view text, std::vector<std::int64_t>& values) {
  values.clear();
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    if (!from_text(text.substr(0, end), values.emplace_back())) return false;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return true;
}

// Calls look(name, member) for each field: the one list for writing and for reading.
template <class Look>
void each_field(Look look, auto& event) {
  look("client", event.client);
  look("node", event.node);
  look("other", event.other);
  look("key", event.key);
  look("length", event.length);
  look("delay", event.delay);
  look("ttl", event.ttl);
  look("wait", event.wait);
  look("holding", event.holding);
  look("fence", event.fence);
  look("form", event.form);
}

template <class Look>
void each_setting(Look look, auto& scenario) {
  look("seed", scenario.seed);
  look("nodes", scenario.nodes);
  look("clients", scenario.clients);
  look("keys", scenario.keys);
  look("drift-millionths", scenario.drift_millionths);
  look("node-rates", scenario.node_rates);
  look("client-rates", scenario.client_rates);
  look("max-ttl", scenario.max_ttl);
  look("node-timeout", scenario.node_timeout);
  look("fence-block", scenario.fence_block);
  look("counters", scenario.counters);
  look("delay-min", scenario.delay_min);
  look("delay-max", scenario.delay_max);
  look("resent-per-thousand", scenario.resent_per_thousand);
  look("disk-sync-max", scenario.disk_sync_max);
  look("clocks-hold", scenario.clocks_hold);
  look("users", scenario.users);
  look("pieces-per-thousand", scenario.pieces_per_thousand);
  look("turn-max", scenario.turn_max);
  look("ttl-window", scenario.ttl_window);
  look("first-key", scenario.first_key);
  look("hear-everyone", scenario.hear_everyone);
  look("plain", scenario.plain);
  look("members", scenario.members);
  look("empty-spares", scenario.empty_spares);
  look("spare-max-ttl", scenario.spare_max_ttl);
  look("doors", scenario.doors);
  look("naives", scenario.naives);
  look("acquire-time", scenario.acquire_time);
  look("reply-time", scenario.reply_time);
  look("front-delay-max", scenario.front_delay_max);
  look("late-replies-per-thousand", scenario.late_replies_per_thousand);
  look("door-turn-max", scenario.door_turn_max);
  look("door-look-max", scenario.door_look_max);
  look("unread-per-thousand", scenario.unread_per_thousand);
  look("same-values", scenario.same_values);
  look("shares-keys", scenario.shares_keys);
  look("length", scenario.length);
}

std::string_view take_word(std::string_view& line) {
  const std::size_t end = std::min(line.find(' '), line.size());
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(std::min(end + 1, line.size()));
  return word;
}

// "name=value" into the field of that name; false: there is none, or it takes no such value.
bool set_field(std::string_view word, auto&& each, auto& fields) {
  const std::size_t equals = word.find('=');
  if (equals == std::string_view::npos) return false;
  bool is_set = false;
  each(
      [&](std::string_view name, auto& member) {
        if (name == word.substr(0, equals)) is_set = from_text(word.substr(equals + 1), member);
      },
      fields);
  return is_set;
}

std::optional<Event> read_event(std::string_view line, std::string& problem) {
  Event event;
  Duration at{};
  take_word(line);  // "at"
  const bool has_time = from_text(take_word(line), at);
  const std::string_view name = take_word(line);
  const auto deed = find_name<Deed>(kDeedNames, name);
  if (!has_time || !deed) {
    problem = fmt::format("an event begins with 'at 12ns' and what happens; '{}' is none", name);
    return std::nullopt;
  }
  event.at = TrueTime(at);
  event.deed = *deed;
  while (!line.empty()) {
    const std::string_view word = take_word(line);
    const auto each = [](auto look, auto& fields) { each_field(look, fields); };
    if (set_field(word, each, event)) continue;
    problem = fmt::format("'{}' is no field of an event, or not of its kind", word);
    return std::nullopt;
  }
  return event;
}

// One goes on with what the other holds.
bool is_of_two_clients(Deed deed) {
  return deed == Deed::release_for || deed == Deed::hand_over;
}

bool is_of_client(Deed deed) {
  return deed == Deed::want || deed == Deed::pause_client || deed == Deed::kill_client ||
         deed == Deed::jump_client || deed == Deed::race_client || is_of_two_clients(deed) ||
         deed == Deed::suspend_client || deed >= kFirstRosterDeed;
}

bool is_of_link(Deed deed) {
  return (deed >= Deed::cut && deed <= Deed::mislead) || deed == Deed::swap;
}

// What chance is asked for, and what is divided by.
bool is_possible(const Scenario& scenario) {
  return scenario.nodes >= 1 && scenario.nodes <= kNodesMax && scenario.clients >= 1 &&
         scenario.keys >= 1 && scenario.delay_min >= 0ns &&
         scenario.delay_max >= scenario.delay_min && scenario.disk_sync_max >= 0ns &&
         scenario.turn_max >= 0ns && scenario.ttl_window >= 0ns &&
         scenario.members <= scenario.nodes && scenario.spare_max_ttl >= 0ns &&
         scenario.acquire_time > 0ns && scenario.reply_time > 0ns &&
         scenario.front_delay_max >= 0ns && scenario.door_turn_max >= 0ns &&
         scenario.door_look_max >= 0ns;
}

// How many there are of those whom the event's client is one of.
unsigned clients_of(const Scenario& scenario, Deed deed) {
  if (deed == Deed::ask) return scenario.users;
  if (deed == Deed::use || deed == Deed::leave) return scenario.naives;
  if (deed >= kFirstDoorDeed) return scenario.doors;
  const bool may_be_door = is_of_link(deed) && deed != Deed::mislead && deed != Deed::swap;
  return scenario.clients + (may_be_door ? scenario.users + scenario.doors : 0);
}

// Numbers that lead to nobody would be indices out of range.
std::string misfit(const Scenario& scenario, const Event& event) {
  const bool is_of_user = event.deed == Deed::ask;
  const bool needs_client = is_of_client(event.deed) || is_of_link(event.deed) || is_of_user;
  const bool needs_node = !is_of_client(event.deed);
  const bool needs_key = event.deed == Deed::want || is_of_two_clients(event.deed) || is_of_user ||
                         event.deed == Deed::use;
  const auto is_wrong = [](bool is_needed, unsigned number, unsigned count) {
    return number > count || (is_needed && number == 0);
  };
  if (is_wrong(needs_client, event.client, clients_of(scenario, event.deed)) ||
      is_wrong(needs_node, event.node, scenario.nodes) ||
      is_wrong(needs_key, event.key, scenario.keys)) {
    return "it names a client, node or key that is not there";
  }
  if (is_of_two_clients(event.deed) && (event.other == 0 || event.other > scenario.clients)) {
    return "it goes on for a client that is not there";
  }
  if (is_of_user && event.form >= forms().size()) return "it asks by a form that is not there";
  if (event.deed == Deed::use &&
      (event.form >= naive_forms().size() || event.other > scenario.doors)) {
    return "it uses a form, or a door, that is not there";
  }
  if (event.deed == Deed::faulty_disk && event.other == 0) return "one call in 0 fails";
  if (event.deed == Deed::relist && (event.other == 0 || event.other >> scenario.nodes != 0)) {
    return "it lists nodes that are not there";
  }
  const bool has_other = event.deed == Deed::mislead || event.deed == Deed::swap;
  if (has_other && (event.other == 0 || event.other > scenario.nodes)) {
    return "it misleads to a node that is not there";
  }
  return "";
}

}  // namespace

std::string_view deed_name(Deed deed) {
  return kDeedNames[static_cast<std::size_t>(deed)];
}

std::string_view holding_name(Holding holding) {
  return kHoldingNames[static_cast<std::size_t>(holding)];
}

std::string write_event(const Event& event) {
  std::string line =
      fmt::format("at {}ns {}", event.at.time_since_epoch().count(), deed_name(event.deed));
  const Event nothing;
  std::vector<std::string> defaults;
  each_field([&](std::string_view, const auto& member) { defaults.push_back(to_text(member)); },
             nothing);
  std::size_t index = 0;
  each_field(
      [&](std::string_view name, const auto& member) {
        const std::string value = to_text(member);
        if (value != defaults[index++]) line += fmt::format(" {}={}", name, value);
      },
      event);
  return line;
}

std::string write_scenario(const Scenario& scenario) {
  std::string text(kFirstLine);
  text += '\n';
  each_setting(
      [&](std::string_view name, const auto& member) {
        const std::string value = to_text(member);
        if (!value.empty()) text += fmt::format("{}={}\n", name, value);
      },
      scenario);
  for (const Event& event : scenario.events) text += write_event(event) + '\n';
  return text;
}

Result<Scenario> read_scenario(std::string_view text) {
  Scenario scenario;
  int number = 0;
  const auto wrong = [&number](std::string_view what) {
    return Failure{fmt::format("line {}: {}", number, what)};
  };
  while (!text.empty()) {
    ++number;
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (number == 1) {
      if (line != kFirstLine) return wrong(fmt::format("a scenario begins with '{}'", kFirstLine));
    } else if (line.starts_with("at ")) {
      std::string problem;
      const auto event = read_event(line, problem);
      if (!event) return wrong(problem);
      if (problem = misfit(scenario, *event); !problem.empty()) return wrong(problem);
      scenario.events.push_back(*event);
    } else if (!line.empty()) {
      const auto each = [](auto look, auto& fields) { each_setting(look, fields); };
      if (!set_field(line, each, scenario)) return wrong("no setting of a scenario");
    }
  }
  if (!is_possible(scenario)) {
    return wrong("1 to 9 nodes, a client and a key at least, and no negative time");
  }
  const bool has_counters = scenario.counters.empty() || scenario.counters.size() == scenario.nodes;
  if (!has_counters) return wrong("counters has a number for each node, or there is none");
  if (scenario.node_rates.size() != scenario.nodes ||
      scenario.client_rates.size() != scenario.clients) {
    return wrong("node-rates and client-rates have a number for each node and client");
  }
  return scenario;
}

}  // namespace redlock::simulation
