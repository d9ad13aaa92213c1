#include "tests/simulation/forms.h"

#include "protocol/resp/output_buffer.h"
#include "protocol/resp/request_writer.h"

namespace redlock::simulation {
namespace {

using protocol::Reply;

constexpr std::string_view kExtend =
    "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('pexpire',KEYS[1],ARGV[2]) end "
    "return 0";
constexpr std::string_view kRelease =
    "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) end return 0";
constexpr std::string_view kKeepThenExtend =
    "if redis.call('get',KEYS[1])~=ARGV[1] then return 0 end "
    "redis.call('set',KEYS[1],ARGV[1],'XX','KEEPTTL') "
    "return redis.call('pexpire',KEYS[1],ARGV[2])";
constexpr std::string_view kSetAnew =
    "if redis.call('get',KEYS[1])~=ARGV[1] then return 0 end "
    "return redis.call('set',KEYS[1],ARGV[1],'XX','PX',ARGV[2])";
constexpr std::string_view kGetex =
    "if redis.call('get',KEYS[1])~=ARGV[1] then return 0 end "
    "redis.call('getex',KEYS[1],'PX',ARGV[2]) return 1";
constexpr std::string_view kSetnxAndPexpire =
    "if redis.call('setnx',KEYS[1],ARGV[1])==0 then return 0 end "
    "return redis.call('pexpire',KEYS[1],ARGV[2])";
// First for an instant, then for as long as is asked: what a script leaves behind counts (R4).
constexpr std::string_view kSetThenExtend =
    "if not redis.call('set',KEYS[1],ARGV[1],'NX','PX',1) then return 0 end "
    "return redis.call('pexpire',KEYS[1],ARGV[2])";
constexpr std::string_view kTakeHash =
    "if redis.call('exists',KEYS[1])==1 then return 0 end "
    "redis.call('hincrby',KEYS[1],ARGV[1],1) return redis.call('pexpire',KEYS[1],ARGV[2])";
constexpr std::string_view kExtendHash =
    "if redis.call('hexists',KEYS[1],ARGV[1])==0 then return 0 end "
    "return redis.call('pexpire',KEYS[1],ARGV[2])";
constexpr std::string_view kReleaseHash =
    "if redis.call('hexists',KEYS[1],ARGV[1])==0 then return 0 end "
    "return redis.call('del',KEYS[1])";

Requests eval(std::string_view script) {
  return {{"EVAL", script, "1", "K", "V", "T"}};
}

// As one transaction.
Requests multi(Requests requests) {
  requests.insert(requests.begin(), {"MULTI"});
  requests.push_back({"EXEC"});
  return requests;
}

std::vector<Form> all_forms() {
  const Requests set = {{"SET", "K", "V", "NX", "PX", "T"}};
  // It gets max-ttl, which may be less.
  Requests setnx = {{"SETNX", "K", "V"}};
  setnx.push_back(eval(kExtend).front());
  return {
      {"set", set, eval(kExtend), eval(kRelease)},
      {"set anew", set, eval(kSetAnew), eval(kRelease)},
      {"keepttl", set, eval(kKeepThenExtend), {{"LOCK.RELEASE", "K", "V"}}},
      {"getex", set, eval(kGetex), eval(kRelease)},
      {"script", eval(kSetnxAndPexpire), eval(kExtend), eval(kRelease)},
      {"script in steps", eval(kSetThenExtend), eval(kExtend), eval(kRelease)},
      {"multi", multi(set), multi(eval(kExtend)), multi(eval(kRelease))},
      {"setnx", setnx, eval(kExtend), eval(kRelease)},
      {"hash", eval(kTakeHash), eval(kExtendHash), eval(kReleaseHash)},
      {"lock",
       {{"LOCK.ACQUIRE", "K", "V", "PX", "T"}},
       {{"LOCK.EXTEND", "K", "V", "PX", "T"}},
       {{"LOCK.RELEASE", "K", "V"}}},
      {"lock, for good",
       {{"LOCK.ACQUIRE", "K", "V", "PX", "T"}},
       {{"LOCK.EXTEND", "K", "V", "PX", "T"}},
       {{"LOCK.RELEASE", "K", "V", "FINAL"}}},
  };
}

}  // namespace

std::span<const Form> forms() {
  static const std::vector<Form> kForms = all_forms();
  return kForms;
}

std::string written(const Requests& requests, std::string_view key, std::string_view value,
                    std::string_view ttl_ms, std::string_view flag) {
  protocol::OutputBuffer out;
  for (std::vector<std::string_view> words : requests) {
    for (std::string_view& word : words) {
      if (word == "K") word = key;
      if (word == "V") word = value;
      if (word == "T") word = ttl_ms;
      if (word == "F") word = flag;
    }
    protocol::write_request(words, out);
  }
  return std::string(out.view());
}

bool is_yes(const Reply& reply) {
  if (reply.is(Reply::Kind::integer)) return reply.integer() == 1;
  if (reply.is(Reply::Kind::array)) return !reply.items().empty() && is_yes(reply.items().front());
  return reply.text() == "OK";
}

bool is_no(const Reply& reply) {
  if (reply.is(Reply::Kind::array)) return !reply.items().empty() && is_no(reply.items().front());
  return reply.is(Reply::Kind::integer) && reply.integer() == 0;
}

}  // namespace redlock::simulation
