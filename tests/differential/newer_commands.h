// Commands that Redis 7.0 lacks, in its words: what their documentation says they answer and leave
// behind, as a script over older commands. So a real Redis stays in step with a node that has them.
#pragma once

#include "tests/differential/step.h"

#include <optional>
#include <span>
#include <string_view>

namespace redlock::differential {

struct NewerForm {
  std::string_view form;
  std::string_view since;
};
std::span<const NewerForm> newer_forms();

// An option that Redis 7.0 lacks, and that makes a command read what it else only writes.
bool is_newer_condition(std::string_view word);

// nullopt: Redis 7.0 has it, in these very words.
std::optional<Words> in_words_of_redis_7_0(const Words& request);

}  // namespace redlock::differential
