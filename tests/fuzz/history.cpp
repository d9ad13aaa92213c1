// A history: whatever stands in the file, it is read or refused with its line, and what was read
// can be written and judged.
#include "coordinator/drill/history/check_report.h"
#include "tests/fuzz/target.h"

#include <string>

namespace redlock::fuzz {

using namespace redlock::drill;

void run(std::string_view input) {
  const auto history = parse_history({{"x.jsonl", std::string(input)}});
  if (!history) {
    INVARIANT(!history.error().text.empty(), "a refusal without a reason");
    return;
  }
  for (const Event& event : history.value().events) {
    INVARIANT(!event_line(event).empty(), "an event that cannot be written");
  }
  const Story story = tell(history.value());
  const Report report = check(history.value(), story);
  INVARIANT(report.is_clean() == report.findings.empty(), "findings that are not listed");
  INVARIANT(!report_text(history.value(), story, report).empty(), "a report without a word");
}

}  // namespace redlock::fuzz
