// The host's disk: what a node's writes are made of, with their time, and their faults.
#include "tests/simulation/host.h"

#include <algorithm>
#include <utility>

namespace redlock::simulation {
namespace {

constexpr Duration kWriteTimeMax = 200us;  // into the page cache

}  // namespace

Status Host::write_latest_deadline(Instant latest_deadline) {
  if (is_disk_broken()) return Failure{"no space left on device"};
  const auto bytes = server::encode_latest_deadline(latest_deadline);
  if (fails_disk_call()) {
    const std::size_t done = bytes.size() / 2 * random_.below(3);  // nothing, half of it, all
    if (done > 0) disk_.write_ledger(0, {bytes.data(), done});
    return Failure{"input/output error"};
  }
  disk_.write_ledger(0, {bytes.data(), bytes.size()});
  return Done{};
}

bool Host::fails_disk_call() {
  return agenda_.now() < disk_faulty_until_ && random_.below(disk_faulty_one_in_) == 0;
}

// A plan is some four to eight calls long.
DiskPlan Host::new_plan() {
  DiskPlan plan(is_disk_broken());
  if (agenda_.now() >= disk_faulty_until_) return plan;
  const auto call = static_cast<unsigned>(random_.below(std::uint64_t{6} * disk_faulty_one_in_));
  plan.fail_at(call, random_.below(2) == 0, random_);
  return plan;
}

Duration Host::disk_time(bool is_sync) {
  if (!is_sync) return Duration(random_.below(static_cast<std::uint64_t>(kWriteTimeMax.count())));
  const auto most = static_cast<std::uint64_t>(sync_max_.count());
  const bool is_slow = agenda_.now() < disk_slow_until_;
  return Duration(random_.below(most + 1)) + (is_slow ? disk_slow_by_ : 0ns);
}

void Host::carry_out(std::vector<DiskPlan::Step> steps, std::function<void()> done) {
  process_->writes = true;
  carry_out_next(std::make_shared<std::vector<DiskPlan::Step>>(std::move(steps)), 0,
                 process_->number, done);
}

// One system call after the other, as long as the process lives and runs.
void Host::carry_out_next(const Steps& steps, std::size_t index, std::uint64_t number,
                          const std::function<void()>& done) {
  const bool is_last = index == steps->size();
  const Duration time = is_last ? 0ns : disk_time((*steps)[index].is_sync);
  const TrueTime when = std::max(agenda_.now() + time, paused_until_);
  agenda_.at(when, [=, this] {
    if (!process_ || process_->number != number) return;
    if (agenda_.now() < paused_until_) return carry_out_next(steps, index, number, done);
    if (is_last) {
      process_->writes = false;
      return done();
    }
    (*steps)[index].carry_out(disk_);
    carry_out_next(steps, index + 1, number, done);
  });
}

void Host::break_disk(TrueTime until) {
  obligations_.note_disk_trouble();
  disk_broken_until_ = until;
}

void Host::fail_disk_calls(unsigned one_in, TrueTime until) {
  ++faults_;
  obligations_.note_disk_trouble();
  disk_faulty_one_in_ = one_in;
  disk_faulty_until_ = until;
}

void Host::slow_disk(Duration by, TrueTime until) {
  ++faults_;
  disk_slow_by_ = by;
  disk_slow_until_ = until;
}

// What makes its calls fail is there longer than the disk is.
void Host::replace_disk() {
  disk_.replace();
  obligations_.note_new_disk();
  if (is_disk_broken() || agenda_.now() < disk_faulty_until_) obligations_.note_disk_trouble();
  set_max_ttl(largest_max_ttl_);  // what bounds the locks that nobody remembers (row 4)
}

void Host::heal_disk() {
  disk_broken_until_ = std::min(disk_broken_until_, agenda_.now());
  disk_slow_until_ = std::min(disk_slow_until_, agenda_.now());
  disk_faulty_until_ = std::min(disk_faulty_until_, agenda_.now());
}

}  // namespace redlock::simulation
