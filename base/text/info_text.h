// InfoText: what INFO tells, as Redis's is: lines "name:value" below "# Title", a blank line
// between two sections.
//
//   InfoText text;
//   text.begin("Fencing").field("counter", fence.largest()).field("state", "fenced");
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace redlock {

class InfoText {
 public:
  InfoText& begin(std::string_view title);
  InfoText& field(std::string_view name, std::string_view value);
  template <std::integral Number>
  InfoText& field(std::string_view name, Number value) {
    static_assert(!std::same_as<Number, bool>, "say 1 or 0, or yes or no");
    if constexpr (std::signed_integral<Number>) {
      return signed_field(name, value);
    } else {
      return unsigned_field(name, value);
    }
  }
  // A section that was told elsewhere.
  InfoText& add(std::string_view section);

  std::string take() { return std::move(text_); }

 private:
  InfoText& signed_field(std::string_view name, std::int64_t value);
  InfoText& unsigned_field(std::string_view name, std::uint64_t value);

  std::string text_;
};

}  // namespace redlock
