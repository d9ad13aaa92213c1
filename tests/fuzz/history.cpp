// A history: whatever stands in the file, it is read or refused with its line, and what was read
// can be written.
#include "coordinator/drill/history/history.h"

#include "tests/fuzz/target.h"

#include <string>

namespace redlock::fuzz {

using namespace redlock::coordinator;

void run(std::string_view input) {
  const auto history = parse_history({{"x.jsonl", std::string(input)}});
  if (!history) {
    INVARIANT(!history.error().text.empty(), "a refusal without a reason");
    return;
  }
  for (const Event& event : history.value().events) {
    INVARIANT(!event_line(event).empty(), "an event that cannot be written");
  }
}

}  // namespace redlock::fuzz
