#include "base/text/info_text.h"

#include <fmt/format.h>

namespace redlock {

InfoText& InfoText::begin(std::string_view title) {
  return add(fmt::format("# {}\r\n", title));
}

InfoText& InfoText::add(std::string_view section) {
  if (!text_.empty()) text_ += "\r\n";
  text_ += section;
  return *this;
}

InfoText& InfoText::field(std::string_view name, std::string_view value) {
  text_.append(name).append(":").append(value).append("\r\n");
  return *this;
}

InfoText& InfoText::signed_field(std::string_view name, std::int64_t value) {
  return field(name, fmt::format_int(value).c_str());
}

InfoText& InfoText::unsigned_field(std::string_view name, std::uint64_t value) {
  return field(name, fmt::format_int(value).c_str());
}

}  // namespace redlock
