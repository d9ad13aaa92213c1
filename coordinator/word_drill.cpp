// redlock drill: picks the drill.
#include "coordinator/word_drill.h"

#include "coordinator/word.h"

namespace redlock::coordinator {

int word_drill(const Options& options) {
  switch (options.drill) {
    case Drill::restart:
      return drill_restart(options);
    case Drill::chaos:
    case Drill::client:
      break;
  }
  return exit_code::kUsage;
}

}  // namespace redlock::coordinator
