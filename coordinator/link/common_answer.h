// The answers that almost every request gets, read in one go: what a redlock-node says to a
// LOCK.ACQUIRE that it grants, and to a LOCK.RELEASE.
//
//   *3 :1 :proposal :validity    LOCK.ACQUIRE
//   :1 or :0                     LOCK.RELEASE
//
// It is what ReplyParser and classify() come to with the same bytes, for a fifth of the steps and
// without memory: tests/unit holds it to that. Whatever else an answer is they read.
#pragma once

#include "coordinator/link/node_request.h"

#include <cstddef>
#include <optional>
#include <string_view>

namespace redlock::coordinator {

struct CommonAnswer {
  Answer answer;
  std::size_t bytes = 0;  // that it takes
};

// nullopt: the bytes begin with something else, or not with the whole. `kind`: what was asked.
std::optional<CommonAnswer> read_common_answer(RequestKind kind, std::string_view bytes);

}  // namespace redlock::coordinator
