#include "base/text/metrics_text.h"

#include <cmath>
#include <iterator>

#include <fmt/format.h>

namespace redlock {
namespace {

// The format has three characters that a label's value cannot hold as they are.
std::string escaped(std::string_view value) {
  std::string text;
  for (const char c : value) {
    if (c == '\\' || c == '"') text += '\\';
    text += c == '\n' ? "\\n" : std::string(1, c);
  }
  return text;
}

// As they stand between the braces.
std::string joined(MetricsText::Labels labels) {
  std::string text;
  for (const auto& [name, value] : labels) {
    text += fmt::format("{}{}=\"{}\"", text.empty() ? "" : ",", name, escaped(value));
  }
  return text;
}

std::string number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  return fmt::format("{}", value);
}

}  // namespace

void MetricsText::begin(std::string_view type, std::string_view name, std::string_view help) {
  name_ = name;
  fmt::format_to(std::back_inserter(text_), "# HELP {0}_{1} {2}\n# TYPE {0}_{1} {3}\n", prefix_,
                 name, help, type);
}

void MetricsText::gauge(std::string_view name, std::string_view help) {
  begin("gauge", name, help);
}

void MetricsText::counter(std::string_view name, std::string_view help) {
  begin("counter", name, help);
}

void MetricsText::gauge(std::string_view name, std::string_view help, MetricsValue value) {
  gauge(name, help);
  sample({}, value);
}

void MetricsText::counter(std::string_view name, std::string_view help, MetricsValue value) {
  counter(name, help);
  sample({}, value);
}

void MetricsText::histogram(std::string_view name, std::string_view help) {
  begin("histogram", name, help);
}

void MetricsText::histogram(std::string_view name, std::string_view help,
                            const DurationBuckets& times) {
  histogram(name, help);
  sample({}, times);
}

void MetricsText::sample(Labels labels, MetricsValue value) {
  add("", joined(labels), value);
}

// Each bucket is told with all that are below it.
void MetricsText::sample(Labels labels, const DurationBuckets& times) {
  const std::string told = joined(labels);
  const std::string_view comma = told.empty() ? "" : ",";
  std::uint64_t count = 0;
  for (const DurationBuckets::Bucket& bucket : times.buckets()) {
    count += bucket.count;
    const bool is_last = bucket.up_to == DurationBuckets::kEndless;
    const std::string edge = is_last ? "+Inf" : number(MetricsValue(bucket.up_to).number());
    add("_bucket", fmt::format("{}{}le=\"{}\"", told, comma, edge), count);
  }
  add("_sum", told, times.sum());
  add("_count", told, count);
}

void MetricsText::add(std::string_view suffix, std::string_view labels, MetricsValue value) {
  const std::string_view opened = labels.empty() ? "" : "{";
  const std::string_view closed = labels.empty() ? "" : "}";
  fmt::format_to(std::back_inserter(text_), "{}_{}{}{}{}{} {}\n", prefix_, name_, suffix, opened,
                 labels, closed, number(value.number()));
}

}  // namespace redlock
