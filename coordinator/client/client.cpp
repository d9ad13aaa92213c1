#include "coordinator/client/client_core.h"
#include "coordinator/client/guard_keeping.h"
#include "coordinator/client/several_guards.h"
#include "coordinator/results/errors.h"
#include "coordinator/results/public_roster.h"
#include "coordinator/results/survey.h"
#include "coordinator/results/translate.h"
#include <redlock/client.h>

#include <algorithm>

namespace redlock {

using coordinator::AcquireResult;
using coordinator::AcquisitionOutcome;
using coordinator::AdmitResult;
using coordinator::ExtendResult;
using coordinator::ExtensionOutcome;
using coordinator::holder_now;
using coordinator::invalid_error;
using coordinator::NodeFinding;

namespace {

// Below it the rounding and the drift allowance leave too little of a TTL to be of use.
constexpr Duration kTtlMin = 10ms;

// A lock is extended at a third of its TTL; a notice of two thirds would leave no time for that.
constexpr Duration notice_max(Duration ttl) {
  return ttl / 10 * 6;
}

std::optional<Error> check(const std::string& name, Duration ttl) {
  if (name.empty()) return invalid_error("the lock's name is empty");
  if (ttl < kTtlMin) return invalid_error("the TTL is shorter than 10 ms");
  return std::nullopt;
}

std::optional<Error> check(const std::string& name, const AcquireOptions& options) {
  if (options.wait && *options.wait < 0ns) return invalid_error("the wait is negative");
  return check(name, options.ttl);
}

std::optional<Error> check(const Lock& lock) {
  if (lock.value.empty()) return invalid_error("the lock has no value");
  return check(lock.name, lock.ttl);
}

AcquireOptions acquire_options(const GuardOptions& options) {
  return {.ttl = options.ttl,
          .wait = options.wait,
          .fence = options.fence,
          .stop = options.stop,
          .on_wait = options.on_wait,
          .tells_every_attempt = options.tells_every_attempt};
}

std::optional<Error> check(const std::string& name, const GuardOptions& options) {
  if (options.notice && (*options.notice < 0ns || *options.notice > notice_max(options.ttl))) {
    return invalid_error("the notice is negative, or longer than six tenths of the TTL");
  }
  return check(name, acquire_options(options));
}

std::optional<Error> check(const std::vector<std::string>& names, const GuardOptions& options) {
  if (names.empty()) return invalid_error("no lock is named");
  for (const std::string& name : names) {
    if (auto error = check(name, options)) return error;
    if (std::count(names.begin(), names.end(), name) > 1)
      return invalid_error("a lock is named twice");
  }
  return std::nullopt;
}

Duration notice_of(const GuardOptions& options) {
  return options.notice.value_or(std::min<Duration>(options.ttl / 10, 5s));
}

coordinator::AcquireRequest request(std::string name, const AcquireOptions& options) {
  return {.name = std::move(name),
          .ttl = options.ttl,
          .patience = {.wait = options.wait},
          .fence = options.fence};
}

}  // namespace

Duration Lock::validity_left() const {
  if (valid_until == Duration::max()) return Duration::max();
  return std::max<Duration>(valid_until - holder_now().time_since_epoch(), 0ns);
}

Client::Client(std::shared_ptr<Core> core) : core_(std::move(core)) {}
Client::Client(Client&&) noexcept = default;

Client& Client::operator=(Client&& other) noexcept {
  if (this == &other) return *this;
  if (core_) Core::end(core_);
  core_ = std::move(other.core_);
  return *this;
}

Client::~Client() {
  if (core_) Core::end(core_);  // callbacks may still call this client
}

Result<Client, Error> Client::start(const ClientOptions& options) {
  auto read = ParsedOptions::read(options);
  if (!read) return read.error();
  auto core = Core::make(nullptr, std::move(read).value());
  if (!core) return core.error();
  return Client(std::move(core).value());
}

Result<Client, Error> Client::start_on(uv_loop_s* loop, const ClientOptions& options) {
  if (loop == nullptr) return invalid_error("no loop was given");
  auto read = ParsedOptions::read(options);
  if (!read) return read.error();
  auto core = Core::make(loop, std::move(read).value());
  if (!core) return core.error();
  return Client(std::move(core).value());
}

// --- acquire

Client::Operation Client::acquire(std::string name, AcquireOptions options, Callback<Lock> done) {
  if (auto error = check(name, options)) return core_->refuse(std::move(done), std::move(*error));
  const std::stop_token stop = options.stop;
  auto start = [name = std::move(name),
                options = std::move(options)](const Core::Tell<Lock>& tell) mutable {
    Core& core = tell.core();
    const auto on_end = [tell](const AcquireResult& result) {
      tell(translate(tell.core().names(), result));
    };
    return core.acquire(request(std::move(name), options),
                        {std::move(options.on_wait), options.tells_every_attempt}, on_end);
  };
  return core_->begin<Lock>(std::move(done), std::move(start), stop);
}

Result<Lock, Error> Client::acquire(std::string name, AcquireOptions options) {
  return core_->wait<Lock>(
      [&](Callback<Lock> done) { acquire(std::move(name), options, std::move(done)); });
}

// --- extend

Client::Operation Client::extend(const Lock& lock, Callback<Lock> done) {
  if (auto error = check(lock)) return core_->refuse(std::move(done), std::move(*error));
  Core& core = *core_;
  return core.begin<Lock>(std::move(done), [&core, lock](const Core::Tell<Lock>& tell) {
    const auto on_end = [&core, lock, tell](const ExtendResult& result) {
      tell(translate(core.names(), result, lock));
    };
    return core.extend(coordinator::held_lock(lock), on_end);
  });
}

Result<Lock, Error> Client::extend(const Lock& lock) {
  return core_->wait<Lock>([&](Callback<Lock> done) { extend(lock, std::move(done)); });
}

// --- release

Client::Operation Client::release(const Lock& lock, Callback<Done> done) {
  if (auto error = check(lock)) return core_->refuse(std::move(done), std::move(*error));
  return core_->release(coordinator::held_lock(lock), std::move(done));
}

Result<Done, Error> Client::release(const Lock& lock) {
  return core_->wait<Done>([&](Callback<Done> done) { release(lock, std::move(done)); });
}

// --- holder, list, status

Client::Operation Client::holder(std::string name, Callback<std::optional<Holder>> done) {
  if (name.empty())
    return core_->refuse(std::move(done), invalid_error("the lock's name is empty"));
  using Found = std::optional<Holder>;
  Core& core = *core_;
  const auto start = [&core, name = std::move(name)](const Core::Tell<Found>& tell) {
    const auto on_end = [&core, tell](const std::vector<NodeFinding>& findings) {
      tell(translate_holder(core.names(), findings));
    };
    return core.group().survey(coordinator::kHolderQuestions, name, holder_now(), on_end);
  };
  return core.begin<Found>(std::move(done), start);
}

Result<std::optional<Holder>, Error> Client::holder(std::string name) {
  using Found = std::optional<Holder>;
  return core_->wait<Found>(
      [&](Callback<Found> done) { holder(std::move(name), std::move(done)); });
}

Client::Operation Client::holder_of_quorum(std::string name, Callback<std::optional<Holder>> done) {
  if (name.empty())
    return core_->refuse(std::move(done), invalid_error("the lock's name is empty"));
  using Found = std::optional<Holder>;
  Core& core = *core_;
  const auto start = [&core, name = std::move(name)](const Core::Tell<Found>& tell) {
    const auto on_end = [tell](const coordinator::ReadResult& result) {
      tell(coordinator::holder_of(result));
    };
    return core.group().read({.name = name}, holder_now(), on_end);
  };
  return core.begin<Found>(std::move(done), start);
}

Client::Operation Client::list(std::string pattern, Callback<std::vector<ListedLock>> done) {
  using Locks = std::vector<ListedLock>;
  Core& core = *core_;
  const auto start = [&core, pattern = std::move(pattern)](const Core::Tell<Locks>& tell) {
    const auto on_end = [&core, tell](const coordinator::ListResult& result) {
      tell(translate(core.names(), result));
    };
    return core.group().list(pattern, holder_now(), on_end);
  };
  return core.begin<Locks>(std::move(done), start);
}

Result<std::vector<ListedLock>, Error> Client::list(std::string pattern) {
  using Locks = std::vector<ListedLock>;
  return core_->wait<Locks>(
      [&](Callback<Locks> done) { list(std::move(pattern), std::move(done)); });
}

Client::Operation Client::status(Callback<std::vector<NodeState>> done) {
  using States = std::vector<NodeState>;
  Core& core = *core_;
  return core.begin<States>(std::move(done), [&core](const Core::Tell<States>& tell) {
    const auto on_end = [&core, tell](const std::vector<NodeFinding>& findings) {
      tell(translate_states(core.names(), findings, core.group().options().clock_drift));
    };
    return core.group().survey(coordinator::kStateQuestions, "", holder_now(), on_end);
  });
}

Result<std::vector<NodeState>, Error> Client::status() {
  using States = std::vector<NodeState>;
  return core_->wait<States>([&](Callback<States> done) { status(std::move(done)); });
}

// --- admit

Client::Operation Client::admit(AdmitOptions options, Callback<Admitted> done) {
  if (options.floor.value_or(0) > kTokenMax) {
    return core_->refuse(std::move(done), invalid_error("the floor is not below 2^53"));
  }
  Core& core = *core_;
  const auto start = [&core, options](const Core::Tell<Admitted>& tell) {
    const auto on_end = [&core, options, tell](const AdmitResult& result) {
      tell(translate(core.names(), result, options.new_group));
    };
    return core.group().admit({.new_group = options.new_group, .floor = options.floor},
                              holder_now(), on_end);
  };
  return core.begin<Admitted>(std::move(done), start, options.stop);
}

Result<Admitted, Error> Client::admit(AdmitOptions options) {
  return core_->wait<Admitted>([&](Callback<Admitted> done) { admit(options, std::move(done)); });
}

// --- group

namespace {

// Group::change or Group::rescue.
template <class Core, class How>
Client::Operation begin_change(Core& core, How how, const GroupRoster& wanted,
                               Client::Callback<GroupChange> done) {
  auto roster = coordinator::read_roster(wanted);
  if (!roster) return core.refuse(std::move(done), invalid_error(roster.error().text));
  const auto start = [&core, how, roster = std::move(roster).value()](const auto& tell) {
    const auto on_end = [&core, roster, tell](const coordinator::ChangeResult& result) {
      tell(translate(core.names(), result, roster));
    };
    return (core.group().*how)(roster, holder_now(), on_end);
  };
  return core.template begin<GroupChange>(std::move(done), start);
}

}  // namespace

Client::Operation Client::change_group(const GroupRoster& wanted, Callback<GroupChange> done) {
  return begin_change(*core_, &coordinator::Group::change, wanted, std::move(done));
}

Result<GroupChange, Error> Client::change_group(const GroupRoster& wanted) {
  return core_->wait<GroupChange>(
      [&](Callback<GroupChange> done) { change_group(wanted, std::move(done)); });
}

Client::Operation Client::rescue_group(const GroupRoster& wanted, Callback<GroupChange> done) {
  return begin_change(*core_, &coordinator::Group::rescue, wanted, std::move(done));
}

Result<GroupChange, Error> Client::rescue_group(const GroupRoster& wanted) {
  return core_->wait<GroupChange>(
      [&](Callback<GroupChange> done) { rescue_group(wanted, std::move(done)); });
}

// --- guard

Client::Operation Client::guard(std::string name, const GuardOptions& options,
                                Callback<Guard> done) {
  if (auto error = check(name, options)) return core_->refuse(std::move(done), std::move(*error));
  Core& core = *core_;
  const auto start = [&core, name = std::move(name), options](const Core::Tell<Guard>& tell) {
    const auto on_end = [&core, options, tell](const AcquireResult& result) {
      if (result.outcome != AcquisitionOutcome::acquired) {
        return tell(acquisition_error(core.names(), result));
      }
      tell(Guard::Keeping::begin(core, result.lock, notice_of(options), options));
    };
    return core.acquire(request(name, acquire_options(options)),
                        {options.on_wait, options.tells_every_attempt}, on_end);
  };
  return core.begin<Guard>(std::move(done), start, options.stop);
}

Result<Guard, Error> Client::guard(std::string name, const GuardOptions& options) {
  return core_->wait<Guard>(
      [&](Callback<Guard> done) { guard(std::move(name), options, std::move(done)); });
}

Client::Operation Client::guards(std::vector<std::string> names, const GuardOptions& options,
                                 Callback<std::vector<Guard>> done) {
  if (auto error = check(names, options)) return core_->refuse(std::move(done), std::move(*error));
  using Guards = std::vector<Guard>;
  Core& core = *core_;
  const auto start = [&core, names = std::move(names), options](const Core::Tell<Guards>& tell) {
    const auto several =
        std::make_shared<Guard::Several>(core, names, options, notice_of(options), tell);
    several->begin();
    return Core::Undo{.otherwise = [several] { several->undo(); }};
  };
  return core.begin<Guards>(std::move(done), start, options.stop);
}

Result<std::vector<Guard>, Error> Client::guards(std::vector<std::string> names,
                                                 const GuardOptions& options) {
  using Guards = std::vector<Guard>;
  return core_->wait<Guards>(
      [&](Callback<Guards> done) { guards(std::move(names), options, std::move(done)); });
}

Client::Operation Client::keep(const Lock& lock, const GuardOptions& options,
                               Callback<Guard> done) {
  if (auto error = check(lock)) return core_->refuse(std::move(done), std::move(*error));
  if (auto error = check(lock.name, options)) {
    return core_->refuse(std::move(done), std::move(*error));
  }
  Core& core = *core_;
  coordinator::HeldLock kept = coordinator::held_lock(lock);
  kept.ttl = options.ttl;
  const auto start = [&core, kept, options](const Core::Tell<Guard>& tell) {
    const auto on_end = [&core, kept, options, tell](const ExtendResult& result) {
      if (result.outcome != ExtensionOutcome::extended) {
        return tell(extension_error(core.names(), result));
      }
      coordinator::HeldLock extended = kept;
      extended.valid_until = result.valid_until;
      tell(Guard::Keeping::begin(core, extended, notice_of(options), options));
    };
    return core.extend(kept, on_end);
  };
  return core.begin<Guard>(std::move(done), start, options.stop);
}

Result<Guard, Error> Client::keep(const Lock& lock, const GuardOptions& options) {
  return core_->wait<Guard>([&](Callback<Guard> done) { keep(lock, options, std::move(done)); });
}

// --- the rest

void Client::cancel(Operation operation) {
  core_->cancel(operation);
}

void Client::when_ready(MoveOnlyFunction<void()> done) {
  Core& core = *core_;
  auto tell_user = [done = std::move(done)](const Result<Done, Error>&) mutable {
    if (done) done();
  };
  core.begin<Done>(std::move(tell_user), [&core](const Core::Tell<Done>& tell) {
    return core.group().when_ready(holder_now(), [tell] { tell(Done{}); });
  });
}

void Client::finish(MoveOnlyFunction<void()> done) {
  core_->finish(std::move(done));
}

Figures Client::figures() const {
  return core_->figures();
}

}  // namespace redlock
