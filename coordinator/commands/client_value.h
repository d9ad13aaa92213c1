// What a lock's value is to people: a front door's record begins with bytes that are no client's
// (rule D1), and are no text either.
#pragma once

#include "base/text/json.h"
#include "base/text/printable.h"
#include "coordinator/front_door/records/record.h"
#include <redlock/client.h>

#include <string>

#include <fmt/format.h>

namespace redlock::coordinator {

inline bool is_hash(const Record& record) {
  return record.kind == server::LockKind::hash;
}

// For a terminal.
inline std::string shown_value(const Holder& holder) {
  const Record record = read_record(holder.value);
  if (record.is_foreign) return printable(holder.value);
  return fmt::format("{}  (of a client of a front door)",
                     is_hash(record) ? "a hash" : printable(record.payload));
}

// Adds what the client of a front door knows as the lock's value; null: a hash.
inline JsonObject with_client_value(JsonObject all, const Holder& holder) {
  const Record record = read_record(holder.value);
  if (record.is_foreign) return all;
  all.add("client_value", is_hash(record) ? Json() : Json(record.payload));
  return all;
}

}  // namespace redlock::coordinator
