// The table behind the history format: which fields an event of each kind has, and how each is
// read and written. Reader and writer share it, so they cannot disagree.
#pragma once

#include "base/text/json.h"
#include "coordinator/drill/history/history.h"

#include <optional>
#include <span>

#include <nlohmann/json_fwd.hpp>

namespace redlock::drill {

using ReadJson = nlohmann::ordered_json;

// One field: its bit in a KindOfEvent's masks, and how it goes in and out of an Event.
struct EventField {
  unsigned bit;
  std::string_view name;
  std::string_view is;  // "must be …", for messages
  bool (*read)(const ReadJson& value, Event& event);
  Json (*write)(const Event& event);
  // Whether an optional field has anything to say.
  bool (*is_told)(const Event& event);
};

struct KindOfEvent {
  What what;
  std::string_view name;
  bool is_of_a_client;
  unsigned required;
  unsigned optional;
};

std::span<const EventField> event_fields();
const KindOfEvent& kind_of(What what);
const KindOfEvent* find_kind(std::string_view name);

// What every event has.
bool read_time(const ReadJson& value, Instant& time);
bool read_name(const ReadJson& value, std::string& name);
bool read_text(const ReadJson& value, std::string& text);

}  // namespace redlock::drill
