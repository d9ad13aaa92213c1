#include "base/text/json.h"

#include "base/text/printable.h"
#include "base/text/utf8.h"

#include <cmath>

#include <fmt/format.h>

namespace redlock {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

void append_escaped(std::string& out, unsigned char c) {
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      out += static_cast<char>(c);
  }
}

bool is_unnamed_control(std::uint32_t code) {
  return is_control(code) && code != '\n' && code != '\r' && code != '\t';
}

void append_text(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const Utf8Character character = first_character(text);
    if (!character.is_well_formed) {
      out += kReplacement;
    } else if (character.size == 1 && !is_unnamed_control(character.code)) {
      append_escaped(out, static_cast<unsigned char>(text.front()));
    } else if (is_control(character.code)) {  // who prints JSON on a terminal is told no orders
      out += fmt::format("\\u{:04x}", character.code);
    } else {
      out += text.substr(0, character.size);
    }
    text.remove_prefix(character.size);
  }
  out += '"';
}

}  // namespace

Json::Json(double value) : text_(std::isfinite(value) ? fmt::format("{}", value) : "null") {}

Json::Json(std::string_view text) {
  text_.reserve(text.size() + 2);
  append_text(text_, text);
}

Json::Json(JsonArray array) : text_(array.text()) {}

Json::Json(JsonObject object) : text_(object.text()) {}

JsonArray::JsonArray(std::initializer_list<Json> values) {
  for (const Json& value : values) add(value);
}

void JsonArray::add(const Json& value) {
  if (!values_.empty()) values_ += ',';
  values_ += value.text();
}

JsonObject::JsonObject(std::initializer_list<Member> members) {
  for (const auto& [name, value] : members) add(name, value);
}

void JsonObject::add(std::string_view name, const Json& value) {
  if (!members_.empty()) members_ += ',';
  append_text(members_, name);
  members_ += ':';
  members_ += value.text();
}

}  // namespace redlock
