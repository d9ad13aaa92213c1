#include "coordinator/drill/clients/door_user.h"

#include "base/net/turn/clock.h"
#include "coordinator/client/node_address.h"
#include "coordinator/drill/clients/door_link.h"
#include "coordinator/drill/clients/working_process.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace redlock::drill {
namespace {

using protocol::Reply;
using Words = std::vector<std::string_view>;

// Few wait longer for one Redis.
constexpr Duration kPatience = 2s;
constexpr std::string_view kCommonValue = "1";

constexpr std::string_view kExtend =
    "if redis.call('get',KEYS[1]) == ARGV[1] then "
    "return redis.call('pexpire',KEYS[1],ARGV[2]) else return 0 end";
constexpr std::string_view kRelease =
    "if redis.call('get',KEYS[1]) == ARGV[1] then "
    "return redis.call('del',KEYS[1]) else return 0 end";

struct Answer {
  std::optional<Reply> reply;  // nullopt: none came
  Instant read{};
  // What is promised holds for an OK that is on its way for at most the reply time (rule D2). A
  // client knows that much of one that comes within the reply time of its request.
  bool is_in_time = false;
};

// The token of [1, token, ms] as LOCK.ACQUIRE and LOCK.EXTEND answer; 0: of the recipe's OK or 1.
// nullopt: it was not granted.
std::optional<std::uint64_t> token_of(const Reply& reply) {
  if (reply.is(Reply::Kind::status) || reply.integer() == 1) return 0;
  if (reply.items().size() != 3 || reply.items()[0].integer() != 1) return std::nullopt;
  return static_cast<std::uint64_t>(reply.items()[1].integer());
}

class DoorUser final : public WorkingProcess {
 public:
  DoorUser(const ClientProcessSettings& settings, HistoryWriter history, StoreLink store,
           std::vector<DoorLink> doors)
      : WorkingProcess(settings, std::move(history), std::move(store)),
        doors_(std::move(doors)),
        ttl_(std::to_string(floor_ms(settings.ttl))) {}

 private:
  // Of a hundred holdings.
  static constexpr std::uint64_t kLong = 25;
  static constexpr std::uint64_t kRunsOut = 30;
  static constexpr std::uint64_t kWithCommonValue = 50;  // of those

  void hold() override;
  void work_and_extend(std::uint64_t token, Duration length);
  void extend();
  void release();

  Answer ask(const Words& words, Instant give_up_at);
  Answer ask_for_lock();

  std::vector<DoorLink> doors_;
  const std::string ttl_;  // ms

  // Of the holding under way.
  std::string value_;
  Instant valid_until_{};
};

Answer DoorUser::ask(const Words& words, Instant give_up_at) {
  const Instant asked = net::holder_now();
  DoorLink& door = doors_[pick(doors_.size())];
  Answer answer;
  answer.reply = door.ask(words, std::min(give_up_at, later(asked, kPatience)));
  answer.read = net::holder_now();
  answer.is_in_time = answer.read - asked <= settings_.reply_time;
  return answer;
}

Answer DoorUser::ask_for_lock() {
  if (settings_.fence) return ask({"LOCK.ACQUIRE", lock_, value_, "PX", ttl_}, kNever);
  return ask({"SET", lock_, value_, "NX", "PX", ttl_}, kNever);
}

void DoorUser::hold() {
  const bool runs_out = chance(kRunsOut);
  const bool is_common = runs_out && !settings_.fence && chance(kWithCommonValue);
  value_ = is_common ? std::string(kCommonValue) : hold_;
  const Answer answer = ask_for_lock();
  if (!answer.reply) return refused("no_answer");
  if (answer.reply->is_error()) return refused("no_quorum");
  const auto token = token_of(*answer.reply);
  if (!token) return refused("held");
  if (!answer.is_in_time) return refused("told_late");
  valid_until_ = later(answer.read, settings_.ttl);
  belief_->begin(asked_, {.token = *token, .valid_until = valid_until_});
  if (runs_out) {
    work(*token, valid_until_ - notice_, [] { return true; });
    sleep(valid_until_ - net::holder_now());
    return belief_->run_out();
  }
  work_and_extend(*token, is_first() || chance(kLong) ? ttls(0.6, 1.6) : between(1ms, 40ms));
  belief_->release();
  release();
}

// Once half of the time that is left is over it asks for more.
void DoorUser::work_and_extend(std::uint64_t token, Duration length) {
  const Instant end = later(net::holder_now(), length);
  const auto is_valid = [this] { return net::holder_now() < valid_until_ - notice_; };
  while (net::holder_now() < end && !belief_->is_over() && !is_told_to_end()) {
    work(token, std::min(end, valid_until_ - settings_.ttl / 2), is_valid);
    if (net::holder_now() < end && !belief_->is_over()) extend();
  }
}

void DoorUser::extend() {
  const Words words = settings_.fence ? Words{"LOCK.EXTEND", lock_, value_, "PX", ttl_}
                                      : Words{"EVAL", kExtend, "1", lock_, value_, ttl_};
  const Answer answer = ask(words, valid_until_ - notice_);
  const bool is_done = answer.reply && answer.is_in_time && token_of(*answer.reply);
  // One that was stopped over the end relies on nothing any more, whatever it was told.
  if (!is_done || answer.read >= valid_until_) return belief_->lose("it could not be extended");
  valid_until_ = later(answer.read, settings_.ttl);
  belief_->extend(valid_until_);
}

// Whatever comes of it.
void DoorUser::release() {
  const Words words = settings_.fence ? Words{"LOCK.RELEASE", lock_, value_}
                                      : Words{"EVAL", kRelease, "1", lock_, value_};
  static_cast<void>(ask(words, kNever));
}

}  // namespace

Status use_doors(const ClientProcessSettings& settings, HistoryWriter history, StoreLink store) {
  std::vector<DoorLink> doors;
  for (const std::string& list : settings.client.nodes) {
    const auto addresses = coordinator::parse_node_addresses(list);
    if (!addresses) return addresses.error();
    for (const auto& door : addresses.value()) doors.emplace_back(door.address.host);
  }
  return DoorUser(settings, std::move(history), std::move(store), std::move(doors)).run();
}

}  // namespace redlock::drill
