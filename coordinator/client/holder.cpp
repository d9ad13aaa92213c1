#include "coordinator/client/holder.h"

#include <array>
#include <string_view>

namespace redlock::coordinator {
namespace {

using RandomBytes = std::array<unsigned char, 18>;

std::string text_of(const RandomBytes& bytes) {
  constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string text(bytes.size() / 3 * 4, '\0');
  auto next = text.begin();
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const unsigned group = (static_cast<unsigned>(bytes[i]) << 16) |
                           (static_cast<unsigned>(bytes[i + 1]) << 8) | bytes[i + 2];
    for (const int shift : {18, 12, 6, 0}) *next++ = kAlphabet[(group >> shift) & 63];
  }
  return text;
}

}  // namespace

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
  RandomBytes bytes{};
  net::system_random(bytes);
  return text_of(bytes);
}

std::string new_lock_value(net::RandomPool& pool) {
  RandomBytes bytes{};
  pool.fill(bytes);
  return text_of(bytes);
}

}  // namespace redlock::coordinator
