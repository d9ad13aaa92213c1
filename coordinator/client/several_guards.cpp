#include "coordinator/client/several_guards.h"

#include "coordinator/results/errors.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

namespace redlock {

using coordinator::holder_now;

Guard::Several::Several(Client::Core& core, std::vector<std::string> names, GuardOptions options,
                        Duration notice, Tell tell)
    : core_(core),
      names_(std::move(names)),
      options_(std::move(options)),
      notice_(notice),
      tell_(std::move(tell)),
      start_(holder_now()),
      order_(names_.size()),
      guards_(names_.size()) {
  std::iota(order_.begin(), order_.end(), std::size_t(0));
  std::sort(order_.begin(), order_.end(),
            [this](std::size_t a, std::size_t b) { return names_[a] < names_[b]; });
}

void Guard::Several::acquire_next() {
  coordinator::Patience patience{options_.wait};
  if (options_.wait) {
    const Duration waited = holder_now() - start_;
    patience.wait = std::max<Duration>(*options_.wait - waited, Duration(0));
  }
  coordinator::AcquireRequest request{.name = names_[order_[next_]],
                                      .ttl = options_.ttl,
                                      .patience = patience,
                                      .fence = options_.fence};
  const auto on_end = [self = shared_from_this()](const coordinator::AcquireResult& result) {
    self->under_way_.reset();
    self->on_end(result);
  };
  under_way_ =
      core_.acquire(std::move(request), {options_.on_wait, options_.tells_every_attempt}, on_end);
}

void Guard::Several::on_end(const coordinator::AcquireResult& result) {
  if (result.outcome != coordinator::AcquisitionOutcome::acquired) {
    Error error = acquisition_error(core_.names(), result);
    error.text = fmt::format("{}: {}", names_[order_[next_]], error.text);
    return fail(std::move(error));
  }
  guards_[order_[next_]] = Guard::Keeping::begin(core_, result.lock, notice_, options_);
  if (++next_ < order_.size()) return acquire_next();
  conclude();
}

// One that was got may have been lost while the others were waited for.
void Guard::Several::conclude() {
  for (std::size_t i = 0; i < guards_.size(); ++i) {
    if (guards_[i].valid()) continue;
    return fail(
        {ErrorCode::lost, fmt::format("{}: lost while the others were waited for", names_[i]), {}});
  }
  tell_(std::move(guards_));
}

void Guard::Several::fail(Error error) {
  guards_.clear();
  tell_(std::move(error));
}

void Guard::Several::undo() {
  if (under_way_) core_.carry_out(*under_way_);
  guards_.clear();
}

}  // namespace redlock
