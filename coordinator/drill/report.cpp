#include "coordinator/drill/report.h"

#include "base/text/json.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

#include <fmt/format.h>

namespace redlock::drill {
namespace {

constexpr std::string_view kBold = "\x1b[1m";
constexpr std::string_view kRed = "\x1b[31m";
constexpr std::string_view kGreen = "\x1b[32m";

// Flushed line by line: a drill is watched, and takes seconds. What nobody reads is dropped.
void print_line(const std::string& text) {
  static_cast<void>(std::fputs((text + "\n").c_str(), stdout));
  static_cast<void>(std::fflush(stdout));
}

}  // namespace

StepReport::StepReport(const Stage& stage, bool json)
    : stage_(stage),
      json_(json),
      colours_(!json && isatty(STDOUT_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr) {}

void StepReport::begin_half(std::string name, std::string_view heading) {
  half_ = std::move(name);
  if (!json_) print_line(fmt::format("\n{}", coloured(heading, kBold)));
}

void StepReport::step(const Step& step) {
  if (json_) return print_json(step, nullptr);
  const std::int64_t at_ms = floor_ms(step.at.value_or(stage_.elapsed()));
  print_line(fmt::format("{:>7} ms  {}", at_ms, step.text));
  std::size_t width = 0;
  for (const NodeSaid& node : step.nodes) width = std::max(width, node.node.size());
  for (std::size_t i = 0; i < step.nodes.size(); ++i) {
    const auto& [node, text] = step.nodes[i];
    print_line(fmt::format("{:12}  node {}  {:<{}}  {}", "", i + 1, node, width, text));
  }
}

void StepReport::end_half(std::string_view as_told, const std::vector<std::string>& differences) {
  if (json_) {
    return differences.empty() ? print_json({"as_told", std::string(as_told)}, &differences)
                               : print_json({"not_as_told", ""}, &differences);
  }
  if (differences.empty()) return print_line(coloured(as_told, kGreen));
  for (const std::string& difference : differences) {
    print_line(coloured("Not as told: " + difference, kRed));
  }
}

void StepReport::end_drill(bool as_told) {
  half_.clear();
  const std::string text = as_told ? "The drill went as told." : "The drill did not go as told.";
  if (json_) return print_json({as_told ? "passed" : "failed", text}, nullptr);
  print_line("\n" + coloured(text, as_told ? kGreen : kRed));
}

void StepReport::print_json(const Step& step, const std::vector<std::string>* differences) {
  JsonObject line = {{"ms", floor_ms(step.at.value_or(stage_.elapsed()))}, {"step", step.name}};
  if (!half_.empty()) line.add("half", half_);
  if (!step.text.empty()) line.add("text", step.text);
  for (const auto& [name, value] : step.facts) line.add(name, value);
  if (differences != nullptr) line.add("differences", *differences);
  JsonArray nodes;
  for (const auto& [node, text] : step.nodes) {
    nodes.add(JsonObject{{"node", node}, {"says", text}});
  }
  if (!nodes.is_empty()) line.add("nodes", nodes);
  print_line(line.text());
}

std::string StepReport::coloured(std::string_view text, std::string_view colour) const {
  return colours_ ? fmt::format("{}{}\x1b[0m", colour, text) : std::string(text);
}

}  // namespace redlock::drill
