#include "coordinator/client/holder.h"

#include "base/net/process/system_random.h"

#include <array>
#include <string_view>

namespace redlock::coordinator {

ClockReading read_holder_clocks() {
  // A pause between the two readings makes the pair useless to compare with: take another then.
  constexpr int kTries = 8;
  constexpr Duration kCloseEnough = 1ms;
  ClockReading reading{};
  for (int i = 0; i < kTries; ++i) {
    reading.boottime = holder_now();
    reading.monotonic = net::read_clock(net::ClockKind::monotonic);
    if (holder_now() - reading.boottime < kCloseEnough) break;
  }
  return reading;
}

std::string new_lock_value() {
  constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::array<unsigned char, 18> bytes{};
  net::system_random(bytes);
  std::string value;
  value.reserve(bytes.size() / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const unsigned group = (static_cast<unsigned>(bytes[i]) << 16) |
                           (static_cast<unsigned>(bytes[i + 1]) << 8) | bytes[i + 2];
    for (const int shift : {18, 12, 6, 0}) value += kAlphabet[(group >> shift) & 63];
  }
  return value;
}

}  // namespace redlock::coordinator
