// redlock drill: picks the drill.
#include "coordinator/commands/drill.h"

#include "coordinator/commands/commands.h"

namespace redlock::coordinator {

int word_drill(const Options& options) {
  switch (options.drill.which) {
    case Drill::restart:
      return drill_restart(options);
    case Drill::check:
      return drill_check(options);
    case Drill::chaos:
      return drill_chaos(options);
    case Drill::partition:
      return drill_partition(options);
    case Drill::clock:
      return drill_clock(options);
    case Drill::client:
      return drill_client(options);
  }
  return exit_code::kUsage;
}

}  // namespace redlock::coordinator
