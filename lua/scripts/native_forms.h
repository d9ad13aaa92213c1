// The native forms of the known scripts: known/index.txt says which script has which.
//
// REQUIRES of each: so many keys and arguments as that table says. A form that answers
// Reply::postponed() has found that the words are not of the usual kind, and has done nothing: the
// interpreter runs the script.
#pragma once

#include "lua/scripts/native_run.h"
#include "protocol/resp/reply.h"

namespace redlock::lua::native {

// --- of a text that is its holder's: get, and then

protocol::Reply release(NativeRun& run);
protocol::Reply release_and_1(NativeRun& run);
protocol::Reply release_or_nil(NativeRun& run);
protocol::Reply release_or_error(NativeRun& run);
protocol::Reply release_and_tell_if_free(NativeRun& run);
protocol::Reply release_and_publish(NativeRun& run);
protocol::Reply release_all(NativeRun& run);

protocol::Reply extend(NativeRun& run);
protocol::Reply extend_and_1(NativeRun& run);
protocol::Reply extend_or_nil(NativeRun& run);
protocol::Reply extend_or_set(NativeRun& run);
protocol::Reply extend_or_set_nx(NativeRun& run);
protocol::Reply extend_from_now_or_from_its_end(NativeRun& run);
protocol::Reply extend_all(NativeRun& run);
protocol::Reply set_own_and_1(NativeRun& run);

protocol::Reply set_or_error(NativeRun& run);
protocol::Reply set_if_free_and_wanted_or_own(NativeRun& run);
protocol::Reply set_nx_or_set_own(NativeRun& run);
protocol::Reply acquire_all(NativeRun& run);

protocol::Reply time_left_or_0(NativeRun& run);
protocol::Reply time_left_or_minus_3(NativeRun& run);
protocol::Reply time_left_or_error(NativeRun& run);
protocol::Reply value_and_time_left(NativeRun& run);

// --- of a hash whose field counts how often its holder has it: Redisson

protocol::Reply count_up(NativeRun& run);
protocol::Reply count_up_in_two_steps(NativeRun& run);
protocol::Reply count_up_and_number(NativeRun& run);
protocol::Reply count_up_and_tell_number(NativeRun& run);
protocol::Reply count_down(NativeRun& run);
protocol::Reply count_down_and_publish(NativeRun& run);
protocol::Reply extend_counted(NativeRun& run);
protocol::Reply delete_anyway(NativeRun& run);
protocol::Reply delete_and_publish(NativeRun& run);

}  // namespace redlock::lua::native
