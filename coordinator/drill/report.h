// StepReport: tells a drill on standard output, a step at a time as it happens, with the
// milliseconds since the drill began and what each node said. For people; with --json a line of
// JSON for each step. Colours on a terminal only, and never under NO_COLOR.
#pragma once

#include "coordinator/drill/world/stage.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redlock::drill {

struct NodeSaid {
  std::string node;  // its address
  std::string text;
};

struct Step {
  std::string name;  // for programs: "kill"
  std::string text;  // for people
  std::vector<NodeSaid> nodes = {};
  std::vector<std::pair<std::string, std::int64_t>> facts = {};  // for programs: "validity_ms"
  // When it happened, in Stage::elapsed(); else it is told at once.
  // Asking the nodes takes time.
  std::optional<Duration> at = {};
};

class StepReport {
 public:
  StepReport(const Stage& stage, bool json);

  // The steps to come belong to it.
  void begin_half(std::string name, std::string_view heading);
  void step(const Step& step);
  // With no differences it went as told, and came to what `as_told` says.
  void end_half(std::string_view as_told, const std::vector<std::string>& differences);
  void end_drill(bool as_told);

 private:
  void print_json(const Step& step, const std::vector<std::string>* differences);
  std::string coloured(std::string_view text, std::string_view colour) const;

  const Stage& stage_;
  bool json_;
  bool colours_;
  std::string half_;
};

}  // namespace redlock::drill
