#include "base/text/json.h"
#include "coordinator/drill/history/history.h"
#include "coordinator/drill/history/history_fields.h"

#include <algorithm>

#include <fmt/format.h>

namespace redlock::drill {
namespace {

std::string line_of(const JsonObject& json) {
  return json.text() + "\n";
}

}  // namespace

std::string_view name_of(What what) {
  return kind_of(what).name;
}

std::string_view name_of(Direction direction) {
  switch (direction) {
    case Direction::both:
      return "both";
    case Direction::in:
      return "in";
    case Direction::out:
      return "out";
  }
  return "";
}

bool is_of_a_client(What what) {
  return kind_of(what).is_of_a_client;
}

bool is_node(std::string_view who) {
  constexpr std::string_view kPrefix = "node ";
  if (!who.starts_with(kPrefix) || who.size() == kPrefix.size()) return false;
  return std::all_of(who.begin() + kPrefix.size(), who.end(),
                     [](char c) { return c >= '0' && c <= '9'; });
}

std::string header_line(const HistoryHeader& header) {
  JsonObject json = {{"format", "redlock-history"}, {"version", 1}};
  if (!header.title.empty()) json.add("title", header.title);
  if (header.clock_drift > 0) json.add("clock_drift", header.clock_drift);
  if (!header.nodes.empty()) json.add("nodes", header.nodes);
  if (!header.clients.empty()) json.add("clients", header.clients);
  if (!header.about.empty()) json.add("about", header.about);
  return line_of(json);
}

std::string event_line(const Event& event) {
  const KindOfEvent& kind = kind_of(event.what);
  JsonObject json = {
      {"t", event.at.time_since_epoch().count()}, {"who", event.who}, {"what", kind.name}};
  for (const EventField& field : event_fields()) {
    const bool is_optional = (kind.optional & field.bit) != 0 && field.is_told(event);
    if (is_optional || (kind.required & field.bit) != 0) json.add(field.name, field.write(event));
  }
  return line_of(json);
}

std::string place_of(const History& history, const Event& event) {
  if (history.files.size() < 2) return fmt::format("line {}", event.line);
  return fmt::format("{}:{}", history.files[event.file], event.line);
}

}  // namespace redlock::drill
