#include "coordinator/cli/command_line/command_line_parts.h"

#include "base/text/duration_text.h"
#include "coordinator/client/node_address.h"
#include "coordinator/quorum/ballot.h"
#include "coordinator/quorum/validity.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

namespace redlock::coordinator {
namespace {

constexpr Duration kLengthMin = 1s;
constexpr Duration kLengthMax = std::chrono::hours(24);

constexpr std::string_view kHowToNameNodes =
    "no nodes are named: use --nodes redis://host:port,…, or set REDLOCK_NODES, or write a line "
    "`nodes redis://host:port,…` into /etc/redlock/redlock.conf (for a try: `redlock up`)";

}  // namespace

bool Flags::is_given(const std::string& name) const {
  const auto [begin, end] = options.equal_range(name);
  return std::any_of(begin, end, [](const auto& one) { return one.second->count() > 0; });
}

Mistake mistake(const GivenSetting& setting, std::string_view text) {
  return {setting.is_flag ? exit_code::kUsage : exit_code::kConfiguration,
          fmt::format("{}: {}", setting.origin, text)};
}

Problem read_duration(const GivenSettings& settings, std::string_view name, Duration& value) {
  const GivenSetting* setting = settings.find(name);
  if (setting == nullptr) return {};
  const Result<Duration> parsed = parse_duration_with_unit(setting->value);
  if (!parsed) return mistake(*setting, parsed.error().text);
  value = parsed.value();
  return {};
}

Problem read_length(const GivenSettings& settings, Duration& length) {
  if (Problem problem = read_duration(settings, "for", length)) return problem;
  if (length >= kLengthMin && length <= kLengthMax) return {};
  return mistake(*settings.find("for"), "from 1s to 1d");
}

Problem read_drift(const GivenSettings& settings, double& drift) {
  const GivenSetting* setting = settings.find("clock-drift");
  if (setting == nullptr) return {};
  char* end = nullptr;
  drift = std::strtod(setting->value.c_str(), &end);
  const bool is_number = !setting->value.empty() && *end == '\0';
  if (is_number && drift >= 0 && drift <= kClockDriftMax) return {};
  return mistake(*setting, "the drift bound must be a number from 0 to 0.5, such as 0.01");
}

Problem read_nodes(const GivenSettings& settings, CommandLine& line) {
  const GivenSetting* setting = settings.find("nodes");
  if (setting == nullptr) return Mistake{exit_code::kConfiguration, std::string(kHowToNameNodes)};
  auto parsed = parse_node_addresses(setting->value);
  if (!parsed) return mistake(*setting, parsed.error().text);
  line.options.client.nodes = {setting->value};
  const std::size_t count = line.options.node_count = parsed.value().size();
  if (count % 2 == 0) {
    line.warnings.push_back(
        fmt::format("{} nodes survive no more failures than {}: name an odd number of nodes", count,
                    count - 1));
  }
  return {};
}

// What depends on more than one setting.
Problem check_times(const GivenSettings& settings, Options& options) {
  if (drift_allowance(options.ttl, options.client.clock_drift) >= options.ttl) {
    return Mistake{
        exit_code::kUsage,
        fmt::format("a TTL of {} leaves no validity: clock drift and rounding take {}",
                    duration_text(options.ttl),
                    spoken_duration(drift_allowance(options.ttl, options.client.clock_drift)))};
  }
  const Duration timeout_max = std::clamp<Duration>(options.ttl / 3, 1ms, kNodeTimeoutMax);
  const GivenSetting* timeout = settings.find("node-timeout");
  if (timeout != nullptr && options.client.node_timeout < 1ms) {
    return mistake(*timeout, "a node timeout must be at least 1ms");
  }
  // Within the default it follows a short TTL by itself;
  // what was asked for is not changed silently.
  if (timeout != nullptr && timeout->is_flag && options.client.node_timeout > timeout_max) {
    return mistake(*timeout,
                   fmt::format("a node timeout is at most a third of the TTL, and 1h: {} here",
                               spoken_duration(timeout_max)));
  }
  options.client.node_timeout = std::min(options.client.node_timeout, timeout_max);
  if (settings.find("kill-after") == nullptr) {
    options.run.kill_after = std::min<Duration>(options.ttl / 10, 5s);
  } else if (options.run.kill_after > options.ttl / 2) {
    return mistake(*settings.find("kill-after"),
                   "at most half of the TTL: the command must be gone before the validity ends");
  }
  return {};
}

CLI::Option* add_setting(CLI::App& app, Flags& flags, const std::string& names,
                         const std::string& name, const std::string& help,
                         const std::string& type) {
  CLI::Option* const option = app.add_option(names, flags.values[name], help)->type_name(type);
  flags.options.emplace(name, option);
  return option;
}

}  // namespace redlock::coordinator
