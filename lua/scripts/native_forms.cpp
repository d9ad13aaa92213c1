// Native forms over a text that only its holder knows. In each, the nth call is the nth redis.call
// of the script; what the script does otherwise stands beside it, in known/.
#include "lua/scripts/native_forms.h"

#include "base/text/number.h"

#include <algorithm>
#include <string>

namespace redlock::lua::native {

using protocol::Reply;

namespace {

constexpr std::string_view kNoError = "ERR ERROR";  // redis.error_reply('ERROR')

// What Lua takes for an integer whatever is done with it: digits, and few enough.
bool is_plain_number(std::string_view text) {
  constexpr std::size_t kDigitsMax = 15;
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return !text.empty() && text.size() <= kDigitsMax &&
         std::all_of(text.begin(), text.end(), is_digit);
}

std::int64_t plain_number(std::string_view digits) {
  std::int64_t number = 0;
  for (const char digit : digits) number = number * 10 + (digit - '0');
  return number;
}

Reply count_of(const NativeRun& run) {
  return Reply::integer(static_cast<std::int64_t>(run.keys().size()));
}

}  // namespace

Reply release(NativeRun& run) {
  if (!run.is_own(0)) return Reply::integer(0);
  return run.call(1, run.key());
}

Reply release_and_1(NativeRun& run) {
  if (!run.is_own(0)) return Reply::integer(0);
  run.call(1, run.key());
  return Reply::integer(1);
}

Reply release_or_nil(NativeRun& run) {
  if (!run.is_own(0)) return Reply::null();
  run.call(1, run.key());
  return Reply::integer(1);
}

Reply release_or_error(NativeRun& run) {
  const Reply value = run.call(0, run.key());
  if (!value.is(Reply::Kind::bulk)) return Reply::ok();
  if (value.text() != run.arg()) return Reply::error_view(kNoError);
  return run.call(1, run.key());
}

Reply release_and_tell_if_free(NativeRun& run) {
  const Reply value = run.call(0, run.key());
  if (!value.is(Reply::Kind::bulk)) return Reply::integer(-1);
  if (value.text() != run.arg()) return Reply::integer(0);
  return run.call(1, run.key());
}

Reply release_and_publish(NativeRun& run) {
  if (!run.is_own(0) || !run.is_one(1, run.key())) return Reply::null();
  run.call(2, run.arg(1), run.key());
  return Reply::integer(1);
}

Reply release_all(NativeRun& run) {
  std::int64_t count = 0;
  for (const std::string_view key : run.keys()) {
    const Reply value = run.call(0, key);
    if (!value.is(Reply::Kind::bulk) || value.text() != run.arg()) continue;
    run.call(1, key);
    ++count;
  }
  return Reply::integer(count);
}

Reply extend(NativeRun& run) {
  if (!run.is_own(0)) return Reply::integer(0);
  return run.call(1, run.key(), run.arg(1));
}

Reply extend_and_1(NativeRun& run) {
  if (!run.is_own(0)) return Reply::integer(0);
  run.call(1, run.key(), run.arg(1));
  return Reply::integer(1);
}

Reply extend_or_nil(NativeRun& run) {
  if (!run.is_own(0)) return Reply::null();
  run.call(1, run.key(), run.arg(1));
  return Reply::integer(1);
}

Reply extend_or_set(NativeRun& run) {
  const Reply value = run.call(0, run.key());
  if (!value.is(Reply::Kind::bulk)) {
    run.call(2, run.key(), run.arg(), "PX", run.arg(1));
    return Reply::integer(1);
  }
  if (value.text() != run.arg()) return Reply::null();
  run.call(1, run.key(), run.arg(1));
  return Reply::integer(1);
}

Reply extend_or_set_nx(NativeRun& run) {
  if (run.is_own(0)) return run.call(1, run.key(), run.arg(1));
  const Reply set = run.call(2, run.key(), run.arg(), "PX", run.arg(1), "NX");
  return Reply::integer(set.is(Reply::Kind::status) ? 1 : 0);
}

// ARGV[3] "0": the time is added to what is left.
Reply extend_from_now_or_from_its_end(NativeRun& run) {
  const bool adds = run.arg(2) == "0";
  if (adds && !is_plain_number(run.arg(1))) return Reply::postponed();
  if (!run.is_own(0)) return Reply::integer(0);
  const std::int64_t left = run.call(1, run.key()).integer();
  if (left < 0) return Reply::integer(0);
  if (!adds) {
    run.call(2, run.key(), run.arg(1));
  } else {
    const std::string sum = std::to_string(plain_number(run.arg(1)) + left);
    run.call(2, run.key(), sum);
  }
  return Reply::integer(1);
}

Reply extend_all(NativeRun& run) {
  for (const std::string_view key : run.keys()) {
    const Reply value = run.call(0, key);
    if (!value.is(Reply::Kind::bulk) || value.text() != run.arg()) return Reply::integer(0);
  }
  for (const std::string_view key : run.keys()) run.call(1, key, run.arg(), "PX", run.arg(1));
  return count_of(run);
}

Reply set_own_and_1(NativeRun& run) {
  if (!run.is_own(0)) return Reply::integer(0);
  run.call(1, run.key(), run.arg(), "PX", run.arg(1));
  return Reply::integer(1);
}

Reply set_or_error(NativeRun& run) {
  const Reply value = run.call(0, run.key());
  const bool is_anothers = value.is(Reply::Kind::bulk) && value.text() != run.arg();
  if (is_anothers) return Reply::error_view(kNoError);
  return run.call(1, run.key(), run.arg(), "PX", run.arg(1));
}

// Two conditions: the second is asked only if the first does not hold.
Reply set_if_free_and_wanted_or_own(NativeRun& run) {
  const bool is_there = run.is_one(0, run.key());
  const bool takes = (!is_there && run.arg(2) == "yes") || run.is_own(1);
  if (!takes) return Reply::null();
  return run.call(2, run.key(), run.arg(), "PX", run.arg(1));
}

// ARGV[2]: so many bytes of the value tell the holder.
Reply set_nx_or_set_own(NativeRun& run) {
  if (!is_plain_number(run.arg(1))) return Reply::postponed();
  const Reply set = run.call(0, run.key(), run.arg(), "NX", "PX", run.arg(2));
  if (set.is(Reply::Kind::status)) return Reply::ok();
  const std::int64_t bytes = plain_number(run.arg(1));
  const std::string last = std::to_string(bytes - 1);
  const Reply front = run.call(1, run.key(), "0", last);
  if (front.text() != run.arg().substr(0, static_cast<std::size_t>(bytes))) return Reply::null();
  return run.call(2, run.key(), run.arg(), "PX", run.arg(2));
}

Reply acquire_all(NativeRun& run) {
  for (const std::string_view key : run.keys()) {
    if (run.is_one(0, key)) return Reply::integer(0);
  }
  for (const std::string_view key : run.keys()) run.call(1, key, run.arg(), "PX", run.arg(1));
  return count_of(run);
}

Reply time_left_or_0(NativeRun& run) {
  if (!run.is_own(0)) return Reply::integer(0);
  return Reply::integer(std::max<std::int64_t>(run.call(1, run.key()).integer(), 0));
}

Reply time_left_or_minus_3(NativeRun& run) {
  if (!run.is_own(0)) return Reply::integer(-3);
  return run.call(1, run.key());
}

Reply time_left_or_error(NativeRun& run) {
  if (!run.is_own(0)) return Reply::error_view(kNoError);
  return run.call(1, run.key());
}

Reply value_and_time_left(NativeRun& run) {
  Reply value = run.call(0, run.key()).owned();
  Reply both = Reply::array();
  both.add(std::move(value)).add(run.call(1, run.key()));
  return both;
}

}  // namespace redlock::lua::native
