#include "tests/process/kill_storm/load.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace redlock::kill_storm {
namespace {

const std::string kReleaseScript =
    "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) end return 0";
const std::string kExtendScript =
    "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('pexpire',KEYS[1],ARGV[2]) end "
    "return 0";
const std::string kAcquireScript =
    "if redis.call('set',KEYS[1],ARGV[1],'NX','PX',ARGV[2]) then return 1 end return 0";
// What a script did before it failed stays done (rule R4).
const std::string kFailingScript =
    "if redis.call('set',KEYS[1],ARGV[1],'NX','PX',ARGV[2]) then error('after the grant') end "
    "return 0";

std::string ms(Duration d) {
  return std::to_string(ceil_ms(d));
}

double as_ms(Duration d) {
  return std::chrono::duration<double, std::milli>(d).count();
}

bool is_recovering(const protocol::Reply& reply) {
  return reply.is_error() && reply.text().find("recovering after a restart") != std::string::npos;
}

// The first number of a LOCK.* reply, or the reply itself.
bool begins_with_one(const protocol::Reply& reply) {
  const auto& items = reply.items();
  return !items.empty() && items[0].integer() == 1;
}

}  // namespace

Load::Load(std::string name, std::uint64_t seed) : random_(seed) {
  for (std::size_t i = 0; i < kKeys; ++i) {
    keys_.emplace_back().name = fmt::format("{}:{}", name, i);
  }
}

std::optional<std::size_t> Load::idle_key() {
  const std::size_t first = random_.below(kKeys);
  for (std::size_t i = 0; i < kKeys; ++i) {
    const std::size_t key = (first + i) % kKeys;
    if (!keys_[key].under_way) return key;
  }
  return std::nullopt;
}

// As many short ones as long ones: evenly on a logarithmic scale.
Duration Load::ttl(const Ttls& ttls) {
  constexpr std::uint64_t kSteps = 1'000'000;
  const double part = static_cast<double>(random_.below(kSteps)) / kSteps;
  const auto shortest = static_cast<double>(ttls.shortest.count());
  const double ratio = static_cast<double>(ttls.longest.count()) / shortest;
  const double length = shortest * std::pow(ratio, part);
  return std::chrono::ceil<std::chrono::milliseconds>(Duration(static_cast<std::int64_t>(length)));
}

Load::Words Load::begin(Command command, Words words) {
  keys_[command.key].under_way = true;
  under_way_.push_back(command);
  return words;
}

Load::Words Load::change(const Ttls& ttls, Instant sent) {
  const auto key = idle_key();
  if (!key) return {};
  const bool may_be_held = keys_[*key].lock.possible_until > sent && !keys_[*key].lock.lost;
  const std::uint64_t dice = random_.below(10);
  if (!may_be_held) return dice == 0 ? release(*key, sent) : grant(*key, ttl(ttls), sent);
  if (dice < 2) return grant(*key, ttl(ttls), sent);
  if (dice < 3) return grant_anyway(*key, ttl(ttls), sent);
  if (dice < 6) return extend(*key, ttl(ttls), sent);
  return release(*key, sent);
}

Load::Words Load::grant(std::size_t key, Duration ttl, Instant sent) {
  Key& k = keys_[key];
  // A refused one leaves the old value; then none of ours is known to be there, and extensions and
  // releases of the key say no. That is part of the load; so the value changes only when granted.
  const std::string value = k.lock.possible_until > sent ? k.value : std::to_string(++values_);
  k.value = value;
  Command command{.key = key, .change = {Change::Kind::grant_if_free, ttl, sent}, .is_grant = true};
  switch (random_.below(4)) {
    case 0:
      command.yes = Yes::one;
      return begin(command, {"EVAL", kAcquireScript, "1", k.name, value, ms(ttl)});
    case 1:
      command.yes = Yes::the_error;
      return begin(command, {"EVAL", kFailingScript, "1", k.name, value, ms(ttl)});
    case 2:
      command.yes = Yes::list;
      return begin(command, {"LOCK.ACQUIRE", k.name, value, "PX", ms(ttl)});
    default:
      command.yes = Yes::ok;
      return begin(command, {"SET", k.name, value, "NX", "PX", ms(ttl)});
  }
}

Load::Words Load::grant_anyway(std::size_t key, Duration ttl, Instant sent) {
  keys_[key].value = std::to_string(++values_);
  return begin({.key = key,
                .change = {Change::Kind::set_deadline, ttl, sent},
                .yes = Yes::ok,
                .is_grant = true},
               {"SET", keys_[key].name, keys_[key].value, "PX", ms(ttl)});
}

Load::Words Load::extend(std::size_t key, Duration ttl, Instant sent) {
  const Key& k = keys_[key];
  Command command{.key = key,
                  .change = {Change::Kind::set_deadline, ttl, sent},
                  .yes = Yes::one,
                  .must_hold = true};
  switch (random_.below(3)) {
    case 0:
      return begin(command, {"PEXPIRE", k.name, ms(ttl)});
    case 1:
      return begin(command, {"EVAL", kExtendScript, "1", k.name, k.value, ms(ttl)});
    default:
      command.change.kind = Change::Kind::extend;
      command.yes = Yes::list;
      return begin(command, {"LOCK.EXTEND", k.name, k.value, "PX", ms(ttl)});
  }
}

Load::Words Load::release(std::size_t key, Instant sent) {
  const Key& k = keys_[key];
  const Command command{
      .key = key, .change = {Change::Kind::end, 0ns, sent}, .yes = Yes::one, .must_hold = true};
  switch (random_.below(3)) {
    case 0:
      return begin(command, {"DEL", k.name});
    case 1:
      return begin(command, {"EVAL", kReleaseScript, "1", k.name, k.value});
    default:
      return begin(command, {"LOCK.RELEASE", k.name, k.value});
  }
}

Load::Words Load::look(Instant sent) {
  const auto key = idle_key();
  if (!key) return {};
  return begin({.key = *key, .change = {.sent = sent}, .yes = Yes::no_matter},
               {random_.below(2) == 0 ? "GET" : "PTTL", keys_[*key].name});
}

Load::Words Load::release_one(Instant sent) {
  for (std::size_t i = 0; i < kKeys; ++i) {
    if (!keys_[i].under_way && keys_[i].lock.possible_until > sent) return release(i, sent);
  }
  return {};
}

Load::Words Load::probe(Instant sent) {
  const auto latest = std::max_element(keys_.begin(), keys_.end(), [](const Key& a, const Key& b) {
    return a.lock.possible_until < b.lock.possible_until;
  });
  constexpr Duration kShort = 50ms;
  latest->value = std::to_string(++values_);
  return begin({.key = static_cast<std::size_t>(latest - keys_.begin()),
                .change = {Change::Kind::grant_if_free, kShort, sent},
                .yes = Yes::ok,
                .is_grant = true},
               {"SET", latest->name, latest->value, "NX", "PX", ms(kShort)});
}

bool Load::answer(const protocol::Reply& reply, Instant answered) {
  const Command command = under_way_.front();
  under_way_.pop_front();
  Key& key = keys_[command.key];
  key.under_way = false;
  if (is_recovering(reply) || command.yes == Yes::no_matter) return false;
  bool yes = false;
  switch (command.yes) {
    case Yes::ok:
      yes = reply.text() == "OK";
      break;
    case Yes::one:
      yes = reply.integer() == 1;
      break;
    case Yes::list:
      yes = begins_with_one(reply);
      break;
    case Yes::the_error:
      yes = reply.is_error() && reply.text().find("after the grant") != std::string::npos;
      break;
    case Yes::no_matter:
      break;
  }
  const bool is_expected_error = command.yes == Yes::the_error && yes;
  if (reply.is_error() && !is_expected_error) {
    defects_.push_back(fmt::format("{}: {}", key.name, reply.to_string()));
  } else if (yes) {
    done(key, command, reply, answered);
  } else if (command.must_hold) {
    check_refusal(key, command, answered);
  }
  return yes && command.is_grant;
}

void Load::done(Key& key, const Command& command, const protocol::Reply& reply, Instant answered) {
  if (command.is_grant) {
    ++grants_;
    check_grant(key, command, answered);
    if (command.yes == Yes::list) check_proposal(key, reply);
  }
  if (const auto gone = make(key.lock, command.change, answered)) endings_.add(*gone);
}

// No lock is granted again before its deadline; after a kill not even by a plain SET, which
// overwrites a lock that the node knows.
void Load::check_grant(const Key& key, const Command& command, Instant answered) {
  if (command.change.kind != Change::Kind::grant_if_free && !key.lock.lost) return;
  if (answered >= key.lock.certain_until) return;
  defects_.push_back(fmt::format("{}: granted again {:.1f} ms before its deadline{}", key.name,
                                 as_ms(key.lock.certain_until - answered),
                                 key.lock.lost ? ", after a kill" : ""));
}

void Load::check_refusal(const Key& key, const Command& command, Instant answered) {
  if (key.lock.lost || answered >= key.lock.certain_until) return;
  defects_.push_back(
      fmt::format("{}: gone {:.1f} ms before its deadline, seen by {}", key.name,
                  as_ms(key.lock.certain_until - answered),
                  command.change.kind == Change::Kind::end ? "a release" : "an extension"));
}

// Rules F1, F2: the proposals of a key rise, through kills too.
void Load::check_proposal(Key& key, const protocol::Reply& reply) {
  const std::int64_t proposal = reply.items().size() > 1 ? reply.items()[1].integer() : 0;
  if (proposal <= key.last_proposal) {
    defects_.push_back(
        fmt::format("{}: proposal {} after {}", key.name, proposal, key.last_proposal));
  }
  key.last_proposal = std::max(key.last_proposal, proposal);
}

void Load::killed(Instant dead) {
  for (const Command& command : under_way_) {
    if (command.yes == Yes::no_matter) continue;
    doubt(keys_[command.key].lock, command.change, dead);
  }
  under_way_.clear();
  for (Key& key : keys_) {
    key.under_way = false;
    key.lock.lost = true;
  }
}

AtTheKill Load::at_the_kill(Instant window_begins) const {
  AtTheKill result{.certain_until = {}, .possible_until = endings_.latest(window_begins)};
  for (const Key& key : keys_) {
    result.certain_until = std::max(result.certain_until, key.lock.certain_until);
    if (key.lock.possible_until < window_begins) continue;
    result.possible_until =
        std::max(result.possible_until.value_or(Instant()), key.lock.possible_until);
  }
  return result;
}

std::vector<std::string> Load::take_defects() {
  return std::exchange(defects_, {});
}

}  // namespace redlock::kill_storm
