// How `redlock` ends: the custom of timeout(1), flock(1) and sysexits(3).
// The list for people is in --help.
#pragma once

namespace redlock::coordinator {

namespace exit_code {

inline constexpr int kDone = 0;
inline constexpr int kNo = 1;         // not this holder's, free, degraded, unfenced, a node died
inline constexpr int kGroupDown = 2;  // status: no quorum grants fenced locks
inline constexpr int kUsage = 64;     // EX_USAGE
inline constexpr int kData = 65;      // EX_DATAERR
inline constexpr int kNoQuorum = 69;  // EX_UNAVAILABLE
inline constexpr int kOutput = 74;    // EX_IOERR
inline constexpr int kHeld = 75;      // EX_TEMPFAIL
inline constexpr int kDenied = 77;    // EX_NOPERM
inline constexpr int kConfiguration = 78;  // EX_CONFIG
inline constexpr int kLost = 121;
inline constexpr int kReleaseUnconfirmed = 122;  // or left out, see rule H3
inline constexpr int kMaxHold = 124;             // as of timeout(1)
inline constexpr int kNotExecutable = 126;       // as of a shell; no process, no thread to be had

constexpr int of_signal(int number) {
  return 128 + number;
}

}  // namespace exit_code

}  // namespace redlock::coordinator
