#include "coordinator/client/client_wait.h"

#include "base/text/printable.h"
#include "coordinator/results/errors.h"

#include <fmt/format.h>

namespace redlock {

// Told later: the nodes are in the middle of it. That another holds it is no news for a log.
void Client::Core::Wait::on_retry(const coordinator::AcquireResult& result) {
  core_.report_.on_attempt_failed();
  Error why = acquisition_error(core_.names(), result);
  const bool is_news = why.text != told_;
  if (!is_news && !on_wait_.tells_every_attempt) return;
  told_ = why.text;
  if (is_news && why.code != ErrorCode::held &&
      core_.report_.takes_wait_line(coordinator::holder_now())) {
    core_.say(Severity::warning,
              fmt::format("{}: waited for: {}", printable(name_), printable(why.text)));
  }
  if (!on_wait_.tell) return;
  core_.defer([self = shared_from_this(), why = std::move(why)] {
    if (!self->is_over_) self->on_wait_.tell(why);
  });
}

}  // namespace redlock
