// JSON that is written and never read here: what a program tells another that asked for --json. A
// value is kept as its text, so that nothing is built up only to be printed:
//
//   JsonArray nodes;
//   for (const NodeAnswer& answer : answers) nodes.add(JsonObject{{"node", answer.node}});
//   const JsonObject all = {{"held", true}, {"token", token}, {"nodes", nodes}};
//   fmt::print("{}\n", all.text());
//
// Members stand in the order in which they were written. A text's bytes that are no UTF-8 become
// the replacement character, U+FFFD: whoever reads JSON refuses the whole of it otherwise. Sources
// that read JSON take a library for that.
#pragma once

#include <concepts>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redlock {

class JsonArray;
class JsonObject;

// One value: null, true or false, a number, a text, an array or an object. Whatever can be one is
// converted where a Json is asked for; an optional that is empty is null.
class Json {
 public:
  // NOLINTBEGIN(google-explicit-constructor): members and values are written as they are
  Json() : text_("null") {}
  template <std::integral Number>
  Json(Number value) {
    if constexpr (std::same_as<Number, bool>) {
      text_ = value ? "true" : "false";
    } else {
      text_ = std::to_string(value);
    }
  }
  Json(double value);  // null, unless it is finite
  Json(std::string_view text);
  Json(const char* text) : Json(std::string_view(text)) {}
  Json(const std::string& text) : Json(std::string_view(text)) {}
  Json(JsonArray array);
  Json(JsonObject object);
  template <class Value>
  Json(const std::optional<Value>& value) : Json(value ? Json(*value) : Json()) {}
  template <class Value>
  Json(const std::vector<Value>& values);
  template <class Value>
  Json(const std::map<std::string, Value>& members);
  // NOLINTEND(google-explicit-constructor)

  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

class JsonArray {
 public:
  JsonArray() = default;
  JsonArray(std::initializer_list<Json> values);

  void add(const Json& value);
  bool is_empty() const { return values_.empty(); }
  std::string text() const { return "[" + values_ + "]"; }

 private:
  std::string values_;  // with commas between them
};

class JsonObject {
 public:
  struct Member {
    std::string_view name;
    Json value;
  };

  JsonObject() = default;
  JsonObject(std::initializer_list<Member> members);

  // REQUIRES: the object has no member of this name.
  void add(std::string_view name, const Json& value);
  bool is_empty() const { return members_.empty(); }
  std::string text() const { return "{" + members_ + "}"; }

 private:
  std::string members_;  // with commas between them
};

template <class Value>
Json::Json(const std::vector<Value>& values) {
  JsonArray array;
  for (const Value& value : values) array.add(value);
  text_ = array.text();
}

template <class Value>
Json::Json(const std::map<std::string, Value>& members) {
  JsonObject object;
  for (const auto& [name, value] : members) object.add(name, value);
  text_ = object.text();
}

}  // namespace redlock
