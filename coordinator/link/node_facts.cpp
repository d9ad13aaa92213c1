#include "coordinator/link/node_facts.h"

#include "base/hash.h"
#include "base/text/number.h"
#include "base/text/printable.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>

namespace redlock::coordinator {
namespace {

using protocol::Reply;

class Fields {
 public:
  explicit Fields(const std::vector<Reply>& items) : items_(items) {}

  // To be shown: it is the node's.
  std::string text(std::string_view name) const {
    const Reply* value = find(name);
    return value == nullptr ? std::string() : printable(value->text());
  }
  std::int64_t number(std::string_view name) const {
    const Reply* value = find(name);
    if (value == nullptr) return 0;
    return parse_int64(value->text()).value_or(value->integer());
  }
  Token token(std::string_view name) const {
    return static_cast<Token>(std::max<std::int64_t>(number(name), 0));
  }
  Duration duration(std::string_view name) const {
    constexpr std::int64_t kMillisecondsMax = Duration::max() / 1ms;
    return std::chrono::milliseconds(std::clamp<std::int64_t>(number(name), 0, kMillisecondsMax));
  }

 private:
  const Reply* find(std::string_view name) const {
    for (std::size_t i = 0; i + 1 < items_.size(); i += 2) {
      if (items_[i].text() == name) return &items_[i + 1];
    }
    return nullptr;
  }

  const std::vector<Reply>& items_;
};

// False: no roster.
bool read_roster(std::string_view text, Roster& roster) {
  if (text.empty()) return true;
  auto parsed = parse_roster(text);
  if (parsed) roster = std::move(parsed).value();
  return parsed.has_value();
}

}  // namespace

std::optional<NodeStatus> read_node_status(const Reply& reply) {
  if (!reply.is(Reply::Kind::map) && !reply.is(Reply::Kind::array)) return std::nullopt;
  const Fields fields(reply.items());
  NodeStatus status{.node_id = fields.text("node_id"),
                    .state = fields.text("state"),
                    .cause = fields.text("cause"),
                    .delay_left = fields.duration("delay_left_ms"),
                    .locks = fields.number("locks"),
                    .counter = fields.token("counter"),
                    .bound = fields.token("bound"),
                    .fenced = fields.number("fenced") == 1,
                    .admit_in = fields.duration("admit_in_ms"),
                    .max_ttl = fields.duration("max_ttl_ms"),
                    .largest_ttl = fields.duration("largest_ttl_ms"),
                    .version = fields.text("version"),
                    .takes_labels = fields.number("labels") == 1,
                    .standing = fields.text("standing"),
                    .ledger_id = fields.text("ledger_id"),
                    .former_longest_ttl = fields.duration("former_longest_ttl_ms"),
                    .former_floor = fields.token("former_floor"),
                    .clock_drift = fields.text("clock_drift"),
                    .restart_delay = fields.text("restart_delay"),
                    .warning = fields.text("warning")};
  if (status.node_id.empty() || status.counter > kTokenMax) return std::nullopt;
  if (status.former_floor > kTokenMax) return std::nullopt;
  if (!read_roster(fields.text("roster"), status.roster)) return std::nullopt;
  if (!read_roster(fields.text("accepted"), status.accepted)) return std::nullopt;
  return status;
}

bool is_status_of_front_door(const Reply& reply) {
  const bool has_fields = reply.is(Reply::Kind::map) || reply.is(Reply::Kind::array);
  return has_fields && Fields(reply.items()).number("quorum") > 0;
}

Duration admissible_in(const NodeStatus& status) {
  const bool is_recovering = status.state == "recovering";
  return is_recovering ? std::max(status.admit_in, status.delay_left) : status.admit_in;
}

// A holder believes in its lock for as long as its own bound allows, and a node waits after a crash
// for as long as its own does.
std::string unsafe_settings(const NodeStatus& status, double clock_drift) {
  if (!status.warning.empty()) return printable(status.warning);
  double drift = 0;
  const char* const end = status.clock_drift.data() + status.clock_drift.size();
  if (std::from_chars(status.clock_drift.data(), end, drift).ec != std::errc()) return "";
  if (drift <= clock_drift) return "";
  return fmt::format("its clock-drift {} is larger than {}, by which validities are reckoned here",
                     drift, clock_drift);
}

NodeIdentity identity_of(std::string_view id) {
  return static_cast<NodeIdentity>(std::max<std::uint64_t>(keyed_hash(id, 0), 1));
}

NodeIdentity member_identity_of(std::string_view id, std::string_view ledger) {
  return identity_of(fmt::format("{}/{}", id, ledger));
}

std::string_view info_field(std::string_view info, std::string_view name) {
  for (std::size_t at = info.find(name); at != std::string_view::npos;
       at = info.find(name, at + 1)) {
    if (at > 0 && info[at - 1] != '\n') continue;
    const std::string_view rest = info.substr(at + name.size());
    if (!rest.starts_with(':')) continue;
    return rest.substr(1, rest.find_first_of("\r\n") - 1);
  }
  return {};
}

std::string_view id_in_info(std::string_view info) {
  const std::string_view node_id = info_field(info, "node_id");
  return node_id.empty() ? info_field(info, "run_id") : node_id;
}

}  // namespace redlock::coordinator
