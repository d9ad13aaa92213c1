// Story: what happened in a run. A hash of every message and every event, so that two runs can be
// compared; and, when asked for, lines for people.
//
//   12.345678 s  node 2  18.000001 s  granted …
//
// The first column is true time, the third the clock of whoever the line is about.
#pragma once

#include "base/hash.h"
#include "tests/simulation/true_time.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::simulation {

class Story {
 public:
  enum class Telling : std::uint8_t { nothing, events, messages };

  explicit Story(Telling telling) : telling_(telling) {}

  bool tells_events() const { return telling_ != Telling::nothing; }
  bool tells_messages() const { return telling_ == Telling::messages; }

  void note(TrueTime when, std::string_view bytes) {
    hash_ = keyed_hash(bytes, hash_ ^ static_cast<std::uint64_t>(when.time_since_epoch().count()));
  }
  void note(TrueTime when, std::uint64_t number) {
    const std::array<std::uint64_t, 2> words = {
        number, static_cast<std::uint64_t>(when.time_since_epoch().count())};
    hash_ = XXH3_64bits_withSeed(words.data(), sizeof words, hash_);
  }
  std::uint64_t hash() const { return hash_; }

  void tell(TrueTime when, const std::string& who, std::optional<Instant> clock,
            std::string_view what);
  const std::vector<std::string>& lines() const { return lines_; }

 private:
  Telling telling_;
  std::uint64_t hash_ = 0;
  std::vector<std::string> lines_;
};

// "12.345678 s"
std::string seconds_text(Duration since);
// RESP as redis-cli shows it, on one line.
std::string resp_text(std::string_view bytes);
// The values that the requests among these bytes release.
std::vector<std::string> released_values(std::string_view bytes);
// The same; leaves a request that has come in part.
std::vector<std::string> take_released_values(std::string& bytes);

}  // namespace redlock::simulation
