#include "coordinator/drill/timeline/timeline.h"

#include "base/text/json.h"
#include "coordinator/drill/history/check_report.h"
#include "coordinator/drill/history/client_cuts.h"
#include "coordinator/drill/history/figures.h"
#include "coordinator/drill/timeline/timeline_page.h"

#include <algorithm>

#include <fmt/format.h>

namespace redlock::drill {
namespace {

// Tables of many rows go as columns of numbers: half the size, and quick to search.
class Columns {
 public:
  explicit Columns(std::initializer_list<const char*> names) {
    for (const char* name : names) columns_.push_back({name, {}});
  }
  template <class... Values>
  void add(const Values&... values) {
    auto column = columns_.begin();
    ((column++)->values.add(values), ...);
  }
  JsonObject json() const {
    JsonObject object;
    for (const auto& [name, values] : columns_) object.add(name, values);
    return object;
  }

 private:
  struct Column {
    const char* name;
    JsonArray values;
  };

  std::vector<Column> columns_;
};

// How a hold ended for its client, as the page numbers it. A client that was killed believes in
// nothing; but its lock stays taken until the validity is over, so the checker goes on with it.
struct HoldEnd {
  Instant at{};
  int how = 0;  // its validity ran out, released, lost, killed
};

class Picture {
 public:
  Picture(const History& history, const Story& story, const Report& report, const Shown& shown)
      : history_(history), story_(story), report_(report), shown_(shown), running_(story) {}
  JsonObject json() const;

 private:
  JsonArray about() const;
  JsonArray nodes() const;
  HoldEnd end_of(const Hold& hold) const;
  JsonObject holds() const;
  JsonObject writes() const;
  JsonArray spells() const;
  JsonArray jumps() const;
  JsonArray findings() const;
  void add_attempts(JsonObject& page) const;

  const Event& event(std::size_t number) const { return history_.events[number]; }
  std::size_t party_of(const Event& event) const {
    const auto party = std::find(story_.parties.begin(), story_.parties.end(), event.who);
    return static_cast<std::size_t>(party - story_.parties.begin());
  }
  // Microseconds since the history began: exact in a browser's numbers, and short.
  std::int64_t us(Instant time) const {
    return std::chrono::floor<std::chrono::microseconds>(time - story_.time.from).count();
  }

  const History& history_;
  const Story& story_;
  const Report& report_;
  const Shown& shown_;
  const RunningTimes running_;
};

JsonObject Picture::json() const {
  JsonObject page = {{"title", history_.header.title},
                     {"scale", scale_text(story_)},
                     {"about", about()},
                     {"length", us(story_.time.to)},
                     {"clean", report_.is_clean()},
                     {"verdict", verdict_text(report_)},
                     {"point", shown_.text},
                     {"differences", shown_.differences},
                     {"locks", story_.locks},
                     {"nodes", nodes()},
                     {"holds", holds()},
                     {"writes", writes()},
                     {"spells", spells()},
                     {"jumps", jumps()},
                     {"findings", findings()}};
  JsonArray clients;
  for (std::size_t i = 0; i < story_.clients; ++i) clients.add(story_.parties[i]);
  page.add("clients", clients);
  JsonArray figures;
  for (const Figure& figure : figures_of(history_, story_, report_)) {
    figures.add(JsonArray{figure.name, figure.value, figure.note});
  }
  page.add("figures", figures);
  add_attempts(page);
  return page;
}

JsonArray Picture::about() const {
  JsonArray lines;
  for (const auto& [name, value] : history_.header.about) {
    lines.add(fmt::format("{}: {}", name, value));
  }
  return lines;
}

JsonArray Picture::nodes() const {
  JsonArray nodes;
  for (std::size_t i = story_.clients; i < story_.parties.size(); ++i) {
    const std::size_t number = i - story_.clients;
    const auto& addresses = history_.header.nodes;
    nodes.add(JsonObject{{"name", story_.parties[i]},
                         {"address", number < addresses.size() ? addresses[number] : ""}});
  }
  return nodes;
}

HoldEnd Picture::end_of(const Hold& hold) const {
  const Instant begin = event(hold.acquired).at;
  const Instant to = hold.believed.empty() ? begin : hold.believed.back().to;
  const auto& breaks = running_.breaks_of(hold.client);
  const auto later_ones = std::partition_point(
      breaks.begin(), breaks.end(), [&](const Spell* spell) { return spell->time.from < begin; });
  for (auto spell = later_ones; spell != breaks.end() && (*spell)->time.from < to; ++spell) {
    if ((*spell)->what == What::killed) return {(*spell)->time.from, 3};
  }
  if (hold.releases && event(*hold.releases).at <= to) return {to, 1};
  return {to, hold.lost && event(*hold.lost).at <= to ? 2 : 0};
}

JsonObject Picture::holds() const {
  Columns columns{"client", "lock",  "asked", "from",  "to",
                  "valid",  "token", "end",   "place", "gaps"};
  for (const Hold& hold : story_.holds) {
    const Event& acquired = event(hold.acquired);
    const auto& believed = hold.believed;
    JsonArray gaps;
    for (std::size_t i = 1; i < believed.size(); ++i) {
      gaps.add(JsonArray{us(believed[i - 1].to), us(believed[i].from)});
    }
    const HoldEnd end = end_of(hold);
    columns.add(hold.client, hold.lock, us(acquired.asked), us(acquired.at), us(end.at),
                us(hold.valid_until), hold.token, end.how, place_of(history_, acquired),
                gaps.is_empty() ? Json(0) : Json(gaps));
  }
  return columns.json();
}

// How: 1 accepted, 2 late.
JsonObject Picture::writes() const {
  Columns columns{"hold", "at", "how"};
  for (std::size_t i = 0; i < history_.events.size(); ++i) {
    const Event& write = event(i);
    if (write.what != What::wrote) continue;
    const std::size_t hold = *story_.hold_of[i];
    const bool was_late = is_late(history_, story_.holds[hold], write.at);
    columns.add(hold, us(write.at), (write.accepted ? 1 : 0) + (was_late ? 2 : 0));
  }
  return columns.json();
}

void Picture::add_attempts(JsonObject& page) const {
  constexpr std::int64_t kUnanswered = -1;
  constexpr std::int64_t kGranted = -2;
  std::map<std::string, std::int64_t> whys;
  Columns columns{"client", "lock", "from", "to", "why"};
  for (const Attempt& attempt : story_.attempts) {
    std::int64_t why = attempt.hold ? kGranted : kUnanswered;
    if (!attempt.hold && attempt.answer) {
      const auto next = static_cast<std::int64_t>(whys.size());
      why = whys.emplace(event(*attempt.answer).why, next).first->second;
    }
    columns.add(attempt.client, attempt.lock, us(attempt.time.from), us(attempt.time.to), why);
  }
  page.add("attempts", columns.json());
  std::vector<std::string> names(whys.size());
  for (const auto& [name, index] : whys) {
    names[static_cast<std::size_t>(index)] = name.empty() ? "no reason told" : spoken_name(name);
  }
  page.add("whys", names);
}

std::string note_of(const Event& event) {
  if (event.what == What::slowed) return fmt::format("by {} ms", event.ms);
  if (event.what == What::stalled) return "the machine did not let it run";
  if (event.what != What::cut) return "";
  std::string note =
      event.from.empty() ? "from everybody" : fmt::format("from {}", fmt::join(event.from, ", "));
  if (event.direction == Direction::in) note += "; only what it should receive";
  if (event.direction == Direction::out) note += "; only what it sends";
  return note;
}

JsonArray Picture::spells() const {
  JsonArray spells;
  for (const Spell& spell : story_.spells) {
    spells.add(JsonObject{{"party", spell.party},
                          {"what", name_of(spell.what)},
                          {"from", us(spell.time.from)},
                          {"to", us(spell.time.to)},
                          {"note", note_of(event(spell.begin))}});
  }
  for (const ClientCut& cut : client_cuts(history_, story_)) {
    spells.add(JsonObject{{"party", cut.client},
                          {"what", "cut"},
                          {"from", us(cut.time.from)},
                          {"to", us(cut.time.to)},
                          {"note", note_of(cut, story_)},
                          {"is_of_nodes", true},
                          {"has_quorum", cut.has_quorum}});
  }
  return spells;
}

JsonArray Picture::jumps() const {
  JsonArray jumps;
  for (const Event& event : history_.events) {
    if (event.what != What::clock_jumped) continue;
    jumps.add(JsonObject{{"party", party_of(event)}, {"at", us(event.at)}, {"by", event.by_ms}});
  }
  return jumps;
}

void add_once(std::vector<std::size_t>& numbers, std::size_t number) {
  if (std::find(numbers.begin(), numbers.end(), number) == numbers.end()) numbers.push_back(number);
}

JsonArray Picture::findings() const {
  JsonArray findings;
  for (const Finding& finding : report_.findings) {
    std::vector<std::size_t> holds;
    std::vector<std::size_t> clients;
    for (const std::size_t number : finding.events) {
      add_once(clients, party_of(event(number)));
      const std::optional<std::size_t> hold = story_.hold_of[number];  // none: of one who waits
      if (hold) add_once(holds, *hold);
    }
    findings.add(JsonObject{{"kind", name_of(finding.kind)},
                            {"lock", finding.lock},
                            {"from", us(finding.time.from)},
                            {"to", us(finding.time.to)},
                            {"holds", holds},
                            {"clients", clients},
                            {"text", finding.text}});
  }
  return findings;
}

// Names come from outside: nothing in them may look like markup, such as "</script>".
std::string harmless_in_html(const std::string& json) {
  std::string text;
  text.reserve(json.size());
  for (const char c : json) {
    if (c == '<') {
      text += "\\u003c";
    } else if (c == '>') {
      text += "\\u003e";
    } else if (c == '&') {
      text += "\\u0026";
    } else {
      text += c;
    }
  }
  return text;
}

}  // namespace

std::string timeline_html(const History& history, const Story& story, const Report& report,
                          const Shown& shown) {
  const std::string json = Picture(history, story, report, shown).json().text();
  std::string html(kPageBegin);
  html += harmless_in_html(json);
  html += kPageEnd;
  return html;
}

}  // namespace redlock::drill
