#include "tests/simulation/doors/naive_forms.h"

#include <algorithm>
#include <chrono>
#include <string_view>
#include <vector>

namespace redlock::simulation {
namespace {

using protocol::Reply;

// redis-py's Lock, its extend() with what is left added.
constexpr std::string_view kPyExtend =
    "local token = redis.call('get', KEYS[1])\n"
    "if not token or token ~= ARGV[1] then\n    return 0\nend\n"
    "local expiration = redis.call('pttl', KEYS[1])\n"
    "if not expiration then\n    expiration = 0\nend\n"
    "if expiration < 0 then\n    return 0\nend\n"
    "local newttl = ARGV[2]\n"
    "if ARGV[3] == \"0\" then\n    newttl = ARGV[2] + expiration\nend\n"
    "redis.call('pexpire', KEYS[1], newttl)\nreturn 1\n";
constexpr std::string_view kPyRelease =
    "local token = redis.call('get', KEYS[1])\n"
    "if not token or token ~= ARGV[1] then\n    return 0\nend\n"
    "redis.call('del', KEYS[1])\nreturn 1\n";
// Spring Integration's registry.
constexpr std::string_view kSpringObtain =
    "local lockClientId = redis.call('GET', KEYS[1])\n"
    "if lockClientId == ARGV[1] then\n  redis.call('PEXPIRE', KEYS[1], ARGV[2])\n  return 1\n"
    "elseif not lockClientId then\n  redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])\n"
    "  return 1\nend\nreturn 0\n";
constexpr std::string_view kSpringRelease =
    "local lockClientId = redis.call('GET', KEYS[1])\n"
    "if lockClientId == ARGV[1] then\n  redis.call('UNLINK', KEYS[1])\n  return 1\nend\nreturn 0\n";

// For a quarter of the time where the flag is up, which is taken down.
constexpr std::string_view kTakeByFlag =
    "local ttl = tonumber(ARGV[2])\n"
    "if redis.call('get', KEYS[2]) then redis.call('del', KEYS[2]) ttl = ttl // 4 + 1 end\n"
    "if redis.call('set', KEYS[1], ARGV[1], 'NX', 'PX', ttl) then return ttl end\nreturn 0\n";
constexpr std::string_view kTakeIfUp =
    "if not redis.call('get', KEYS[2]) then return 0 end\n"
    "if not redis.call('set', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return 0 end\n"
    "redis.call('del', KEYS[2])\nreturn tonumber(ARGV[2])\n";
// Whether the flag is up changes nothing of the lock.
constexpr std::string_view kTakeLowering =
    "if not redis.call('set', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return 0 end\n"
    "if redis.call('get', KEYS[2]) then redis.call('pexpire', KEYS[2], 20) end\n"
    "return tonumber(ARGV[2])\n";
// Both are taken, or none.
constexpr std::string_view kTakeBoth =
    "if redis.call('exists', KEYS[1], KEYS[2]) > 0 then return 0 end\n"
    "redis.call('set', KEYS[2], 'up', 'PX', ARGV[2])\n"
    "redis.call('set', KEYS[1], ARGV[1], 'PX', ARGV[2])\nreturn tonumber(ARGV[2])\n";
// For half of the time where the flag is up; never to an earlier end.
constexpr std::string_view kExtendByFlag =
    "if redis.call('get', KEYS[1]) ~= ARGV[1] then return 0 end\n"
    "local ttl, left = tonumber(ARGV[2]), redis.call('pttl', KEYS[1])\n"
    "if redis.call('get', KEYS[2]) then redis.call('del', KEYS[2]) ttl = ttl // 2 + 1 end\n"
    "if ttl <= left then return left end\n"
    "redis.call('pexpire', KEYS[1], ttl)\nreturn ttl\n";
constexpr std::string_view kRelease =
    "if redis.call('get', KEYS[1]) ~= ARGV[1] then return 0 end\n"
    "return redis.call('del', KEYS[1])\n";
constexpr std::string_view kReleaseRaising =
    "if redis.call('get', KEYS[1]) ~= ARGV[1] then return 0 end\n"
    "redis.call('set', KEYS[2], 'up', 'NX', 'PX', 1000)\n"
    "return redis.call('del', KEYS[1])\n";

// As Redisson's.
constexpr std::string_view kCountInHash =
    "if redis.call('exists', KEYS[1]) == 1 then\n"
    "  if redis.call('type', KEYS[1]).ok ~= 'hash' then return 0 end\n"
    "  if redis.call('hexists', KEYS[1], ARGV[1]) == 0 then return 0 end\nend\n"
    "local count = redis.call('hincrby', KEYS[1], ARGV[1], 1)\n"
    "redis.call('pexpire', KEYS[1], ARGV[2])\nreturn count\n";
constexpr std::string_view kCountOnInHash =
    "if redis.call('type', KEYS[1]).ok ~= 'hash' then return 0 end\n"
    "if redis.call('hexists', KEYS[1], ARGV[1]) == 0 then return 0 end\n"
    "local count = redis.call('hincrby', KEYS[1], ARGV[1], 1)\n"
    "redis.call('pexpire', KEYS[1], ARGV[2])\nreturn count\n";
constexpr std::string_view kReleaseHash =
    "if redis.call('type', KEYS[1]).ok ~= 'hash' then return 0 end\n"
    "if redis.call('hexists', KEYS[1], ARGV[1]) == 0 then return 0 end\n"
    "return redis.call('del', KEYS[1])\n";
// Behind the value, as bsm/redislock keeps what its users note of a lock.
constexpr std::string_view kCountInText =
    "local held = redis.call('type', KEYS[1]).ok == 'none' or redis.call('get', KEYS[1])\n"
    "local value, count = ARGV[1], 0\n"
    "if held ~= true then value, count = held:match('^(.*):(%d+)$') end\n"
    "if value ~= ARGV[1] then return 0 end\n"
    "redis.call('set', KEYS[1], value .. ':' .. count + 1, 'PX', ARGV[2])\nreturn count + 1\n";
constexpr std::string_view kCountOnInText =
    "local value, count = (redis.call('get', KEYS[1]) or ''):match('^(.*):(%d+)$')\n"
    "if value ~= ARGV[1] then return 0 end\n"
    "redis.call('set', KEYS[1], value .. ':' .. count + 1, 'PX', ARGV[2])\nreturn count + 1\n";
constexpr std::string_view kReleaseText =
    "local value = (redis.call('get', KEYS[1]) or ''):match('^(.*):%d+$')\n"
    "if value ~= ARGV[1] then return 0 end\nreturn redis.call('del', KEYS[1])\n";

std::vector<NaiveForm> all_naive_forms() {
  std::vector<NaiveForm> all;
  for (const Form& form : forms()) all.push_back({form, form.name != "setnx"});
  const Requests set = {{"SET", "K", "V", "NX", "PX", "T"}};
  const auto eval = [](std::string_view script) {
    return Requests{{"EVAL", script, "1", "K", "V", "T", "0"}};
  };
  all.push_back({{"redis-py", set, eval(kPyExtend), eval(kPyRelease)}});
  all.push_back(
      {{"spring", eval(kSpringObtain), eval(kSpringObtain), eval(kSpringRelease)}, false});
  const auto flagged = [](std::string_view script) {
    return Requests{{"EVAL", script, "2", "K", "F", "V", "T"}};
  };
  const auto add = [&](std::string_view name, std::string_view take) {
    const std::string_view release = all.size() % 2 == 0 ? kRelease : kReleaseRaising;
    all.push_back({{name, flagged(take), flagged(kExtendByFlag), flagged(release)}, true, true});
  };
  add("by a flag", kTakeByFlag);
  add("if a flag is up", kTakeIfUp);
  add("lowering a flag", kTakeLowering);
  add("with the flag", kTakeBoth);
  all.push_back(
      {.form = {"counted in a hash", eval(kCountInHash), eval(kCountOnInHash), eval(kReleaseHash)},
       .is_exact = false,
       .counts = true});
  all.push_back({.form = {"counted in the value", eval(kCountInText), eval(kCountOnInText),
                          eval(kReleaseText)},
                 .is_exact = false,
                 .counts = true});
  const Requests extend = {{"LOCK.EXTEND", "K", "V", "PX", "T"}};
  const Requests release = {{"LOCK.RELEASE", "K", "V"}};
  const auto waiting = [](std::string_view ms) {
    return Requests{{"LOCK.ACQUIRE", "K", "V", "PX", "T", "WAIT", ms}};
  };
  all.push_back({.form = {"in a line", waiting("20000"), extend, release}, .waits = 20s});
  all.push_back({.form = {"shortly in a line", waiting("30"), extend, release}, .waits = 30ms});
  all.push_back({.form = {"watching", set, eval(kPyExtend), eval(kPyRelease)}, .watches = true});
  return all;
}

}  // namespace

std::span<const NaiveForm> naive_forms() {
  static const std::vector<NaiveForm> kForms = all_naive_forms();
  return kForms;
}

unsigned form_in_line() {
  const auto waits = [](const NaiveForm& form) { return form.waits > 0ns; };
  const auto first = std::find_if(naive_forms().begin(), naive_forms().end(), waits);
  return static_cast<unsigned>(first - naive_forms().begin());
}

std::optional<Duration> told_time(const NaiveForm& form, const Reply& reply, Duration ttl) {
  if (!form.has_flag && !form.counts) return is_yes(reply) ? std::optional(ttl) : std::nullopt;
  if (!reply.is(Reply::Kind::integer) || reply.integer() <= 0) return std::nullopt;
  if (form.counts) return ttl;
  return std::chrono::milliseconds(reply.integer());
}

}  // namespace redlock::simulation
