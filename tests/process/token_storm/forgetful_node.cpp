// A broken node, for the test of the token storm alone: as redlock-node, but a restarted one
// forgets its counters, C = 0 instead of the old bound (rule F1). The storm must find it out.
//
// It is made of the very objects that ship. The linker is told to send the calls of
// server::decide() here (ld's --wrap, see CMakeLists.txt), and what comes back from the real one is
// changed. Were decide() to get another signature, the node would be a sound one, and the test
// that must see it fail would say so.
#include "server/recovery/recovery.h"

#define REDLOCK_DECIDE                                                                   \
  "_ZN7redlock6server6decideERKNS0_5FoundERKNS0_8SettingsENSt6chrono10time_pointINS_14"  \
  "MonotonicClockENS7_8durationIlSt5ratioILl1ELl1000000000EEEEEESt17basic_string_viewIc" \
  "St11char_traitsIcEE"

namespace redlock::server {

Decision real_decide(const Found& found, const Settings& settings, Instant start,
                     std::string_view fresh_node_id) asm("__real_" REDLOCK_DECIDE);

Decision forgetful_decide(const Found& found, const Settings& settings, Instant start,
                          std::string_view fresh_node_id) asm("__wrap_" REDLOCK_DECIDE);

Decision forgetful_decide(const Found& found, const Settings& settings, Instant start,
                          std::string_view fresh_node_id) {
  Decision decision = real_decide(found, settings, start, fresh_node_id);
  decision.first_token = 0;
  return decision;
}

}  // namespace redlock::server
