// MetricsText: numbers for those who collect them, in Prometheus's text format, version 0.0.4.
//
//   MetricsText text("redlock");
//   text.gauge("locks", "Locks that are held.", locks);
//   text.counter("commands_total", "Commands executed, by family.");
//   text.sample({{"family", "string"}}, calls);
//   return std::move(text).str();
//
// Names are literals: letters, digits and '_', with the unit at their end ("_seconds", "_bytes"),
// and "_total" for what only grows. Labels' values may be anything.
#pragma once

#include "base/duration_buckets.h"
#include "base/time.h"

#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace redlock {

// What a sample is worth: a number, or a length of time, which is told in seconds. Integers are
// exact up to 2^53, as a collector keeps a double.
class MetricsValue {
 public:
  // NOLINTBEGIN(google-explicit-constructor): samples are written as they are
  template <class Number>
  requires std::is_arithmetic_v<Number> MetricsValue(Number number)
      : number_(static_cast<double>(number)) {}
  MetricsValue(Duration length) : number_(std::chrono::duration<double>(length).count()) {}
  // NOLINTEND(google-explicit-constructor)

  double number() const { return number_; }

 private:
  double number_;
};

class MetricsText {
 public:
  static constexpr std::string_view kContentType = "text/plain; version=0.0.4; charset=utf-8";

  using Labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

  // prefix: of all names, without the '_' behind it.
  explicit MetricsText(std::string_view prefix) : prefix_(prefix) {}

  // One number of its own.
  void gauge(std::string_view name, std::string_view help, MetricsValue value);
  void counter(std::string_view name, std::string_view help, MetricsValue value);
  // Name: ends in "_seconds".
  void histogram(std::string_view name, std::string_view help, const DurationBuckets& times);
  // Several, told apart by their labels: each is a sample that follows.
  void gauge(std::string_view name, std::string_view help);
  void counter(std::string_view name, std::string_view help);
  void histogram(std::string_view name, std::string_view help);
  void sample(Labels labels, MetricsValue value);
  void sample(Labels labels, const DurationBuckets& times);

  std::string str() && { return std::move(text_); }

 private:
  void begin(std::string_view type, std::string_view name, std::string_view help);
  void add(std::string_view suffix, std::string_view labels, MetricsValue value);

  std::string_view prefix_;
  std::string_view name_;  // that the samples are of
  std::string text_;
};

}  // namespace redlock
