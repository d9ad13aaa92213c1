// Whether this is a build with sanitizers, in which a run takes ten times as long, and more memory.
#pragma once

namespace redlock {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace redlock
