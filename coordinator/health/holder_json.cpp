#include "coordinator/health/holder_json.h"

#include "base/time.h"
#include "base/token.h"

namespace redlock::coordinator {

std::optional<std::int64_t> left_ms(const Holder& holder) {
  if (holder.left == Duration::max()) return std::nullopt;
  return floor_ms(holder.left);
}

JsonObject holder_json(const std::string& name, const Holder& holder, std::size_t nodes) {
  const auto token = holder.token == 0 ? std::nullopt : std::optional(holder.token);
  JsonObject all = {{"name", name},
                    {"held", true},
                    {"value", holder.value},
                    {"left_ms", left_ms(holder)},
                    {"token", token},
                    {"nodes", holder.nodes},
                    {"of", nodes}};
  if (holder.label.empty()) return all;
  all.add("label", holder.label);
  all.add("held_ms", floor_ms(holder.held));
  return all;
}

}  // namespace redlock::coordinator
