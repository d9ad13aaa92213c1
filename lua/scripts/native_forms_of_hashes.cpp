// Native forms over a hash whose field counts how often its holder has the lock: Redisson's.
#include "lua/scripts/native_forms.h"

namespace redlock::lua::native {

using protocol::Reply;

namespace {

// hincrby and pexpire, which stand one behind the other.
void add_one_and_extend(NativeRun& run, std::size_t first_call) {
  run.call(first_call, run.key(), run.arg(1), "1");
  run.call(first_call + 1, run.key(), run.arg());
}

// exists, and where it is there, hexists. They are the first two calls.
bool is_free_or_own(NativeRun& run) {
  return run.call(0, run.key()).integer() == 0 || run.is_one(1, run.key(), run.arg(1));
}

}  // namespace

Reply count_up(NativeRun& run) {
  if (!is_free_or_own(run)) return run.call(4, run.key());
  add_one_and_extend(run, 2);
  return Reply::null();
}

Reply count_up_in_two_steps(NativeRun& run) {
  if (run.call(0, run.key()).integer() == 0) {
    add_one_and_extend(run, 1);
  } else if (run.is_one(3, run.key(), run.arg(1))) {
    add_one_and_extend(run, 4);
  } else {
    return run.call(6, run.key());
  }
  return Reply::null();
}

Reply count_up_and_number(NativeRun& run) {
  if (!is_free_or_own(run)) return run.call(5, run.key());
  run.call(2, run.key(1));
  add_one_and_extend(run, 3);
  return Reply::null();
}

Reply count_up_and_tell_number(NativeRun& run) {
  Reply answer = Reply::array();
  if (is_free_or_own(run)) {
    Reply number = run.call(2, run.key(1));
    add_one_and_extend(run, 3);
    answer.add(Reply::integer(-1)).add(std::move(number));
  } else {
    answer.add(run.call(5, run.key())).add(Reply::integer(-1));
  }
  return answer;
}

// The latch is there when the request comes a second time: then it says what the first answered.
Reply count_down(NativeRun& run) {
  const std::string_view latch = run.key(1);
  if (run.is_there(latch)) return Reply::postponed();
  run.call(0, latch);
  if (!run.is_one(1, run.key(), run.arg(1))) return Reply::null();
  if (run.call(2, run.key(), run.arg(1), "-1").integer() > 0) {
    run.call(3, run.key(), run.arg());
    run.call(4, latch, "0", "px", run.arg(2));
    return Reply::integer(0);
  }
  run.call(5, run.key());
  run.call(6, latch, "1", "px", run.arg(2));
  return Reply::integer(1);
}

Reply count_down_and_publish(NativeRun& run) {
  const std::string_view latch = run.key(2);
  if (run.is_there(latch)) return Reply::postponed();
  run.call(0, latch);
  if (!run.is_one(1, run.key(), run.arg(2))) return Reply::null();
  if (run.call(2, run.key(), run.arg(2), "-1").integer() > 0) {
    run.call(3, run.key(), run.arg(1));
    run.call(4, latch, "0", "px", run.arg(4));
    return Reply::integer(0);
  }
  run.call(5, run.key());
  run.call_named(6, run.arg(3), run.key(1), run.arg());
  run.call(7, latch, "1", "px", run.arg(4));
  return Reply::integer(1);
}

Reply extend_counted(NativeRun& run) {
  if (run.args().size() != run.keys().size() + 1) return Reply::postponed();
  Reply answer = Reply::array();
  for (std::size_t i = 0; i < run.keys().size(); ++i) {
    const bool is_own = run.is_one(0, run.key(i), run.arg(i + 1));
    if (is_own) run.call(1, run.key(i), run.arg());
    answer.add(Reply::integer(is_own ? 1 : 0));
  }
  return answer;
}

Reply delete_anyway(NativeRun& run) {
  return Reply::integer(run.is_one(0, run.key()) ? 1 : 0);
}

Reply delete_and_publish(NativeRun& run) {
  if (!run.is_one(0, run.key())) return Reply::integer(0);
  run.call_named(1, run.arg(1), run.key(1), run.arg());
  return Reply::integer(1);
}

}  // namespace redlock::lua::native
