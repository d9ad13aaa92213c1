// What a node answers, in the order in which it was asked.
#include "coordinator/link/link.h"

#include <utility>

namespace redlock::coordinator {
namespace {

using protocol::Reply;
using protocol::ReplyParser;

bool is_unknown_script(const Reply& reply) {
  return reply.is_error() && reply.text().starts_with("NOSCRIPT");
}

// Of the same lock, one to make it and one to end it.
bool are_opposed(const NodeRequest& one, const NodeRequest& other) {
  const bool is_pair = (one.tops_up && other.kind == RequestKind::release) ||
                       (one.kind == RequestKind::release && other.tops_up);
  return is_pair && one.claim->value == other.claim->value && one.claim->name == other.claim->name;
}

}  // namespace

void Link::on_bytes(std::string_view bytes, Instant now) {
  pulse_.on_bytes(now);
  const bool is_continued = !received_.empty();
  if (is_continued) {
    received_.append(bytes);
    bytes = received_;
  }
  while (!bytes.empty()) {
    if (auto common = common_answer(bytes)) {
      bytes.remove_prefix(common->bytes);
      on_common_answer(std::move(common->answer), now);
      continue;
    }
    const auto state = parser_.parse(bytes);
    if (state == ReplyParser::State::incomplete) break;
    if (state == ReplyParser::State::broken) {
      return give_up({.kind = AnswerKind::broken, .text = parser_.problem()}, now);
    }
    Reply reply = parser_.take_reply();
    if (!is_due(reply)) {
      return give_up({.kind = AnswerKind::broken, .text = "an answer to nothing"}, now);
    }
    bytes.remove_prefix(parser_.consumed());
    on_reply(std::move(reply), now);
    if (state_ == State::backing_off) return;
  }
  if (is_continued && !bytes.empty()) {
    received_.erase(0, received_.size() - bytes.size());
  } else {
    received_ = std::string(bytes);
  }
}

bool Link::is_due(const Reply& reply) const {
  return reply.is(Reply::Kind::push) || greeting_.is_under_way() || !in_flight_.empty();
}

// What the parser would come to as well, in more steps.
std::optional<CommonAnswer> Link::common_answer(std::string_view bytes) const {
  const bool is_due = !greeting_.is_under_way() && !in_flight_.empty();
  if (!is_due || parser_.is_within_reply()) return std::nullopt;
  return read_common_answer(in_flight_.front().request.kind, bytes);
}

void Link::on_common_answer(Answer&& answer, Instant now) {
  const InFlight answered = take_answered(now);
  if (relay_.has_waiting()) publish_waiting(now);
  conclude(answered.request, std::move(answer), {}, now);
}

void Link::on_reply(Reply reply, Instant now) {
  if (reply.is(Reply::Kind::push) && !is_answer(reply)) return keep_push(std::move(reply));
  if (greeting_.is_under_way()) return on_greeting(reply, now);
  InFlight answered = take_answered(now);
  if (relay_.on_answer(answered.request.kind, reply)) publish_waiting(now);
  if (is_unknown_script(reply) && answered.form == ScriptForm::by_sha) {
    return send_in_full(std::move(answered), now);
  }
  Answer answer = classify(answered.request.kind, reply, answered.request.tops_up);
  conclude(answered.request, std::move(answer), std::move(reply), now);
}

Link::InFlight Link::take_answered(Instant now) {
  pulse_.on_answer(now);
  InFlight answered = in_flight_.take_front();
  bytes_ -= bytes_of(answered.request);
  if (answered.request.tops_up) --top_ups_in_flight_;
  return answered;
}

void Link::conclude(const NodeRequest& request, Answer&& answer, Reply&& reply, Instant now) {
  const bool is_release = request.kind == RequestKind::release;
  if (is_release) --releases_pending_;
  if (!request.is_awaited()) return;
  answer.from = identity_;
  if (answer.kind == AnswerKind::other_group) [[unlikely]] {
    complete(request, Answer(answer), std::move(reply));
    backoff_ = kBackoffMin;
    return give_up(std::move(answer), now);
  }
  // A release is welcome at any node, but a quorum of a wrong list is none of the group.
  if (is_release && !votes_refused_.empty()) [[unlikely]]
    answer = wrong_list(false);
  complete(request, std::move(answer), std::move(reply));
}

void Link::send_in_full(InFlight unknown, Instant now) {
  if (!may_overtake(unknown.request)) {
    return write(std::move(unknown.request), ScriptForm::in_full, now);
  }
  in_flight_.push_front(std::move(unknown));
  give_up({.kind = AnswerKind::broken, .text = "its scripts were forgotten"}, now);
}

// Whether something in flight, which came after the request, may be executed before it. The counts
// spare the search where there can be nothing: thousands of scripts may be unknown at once.
bool Link::may_overtake(const NodeRequest& request) const {
  const bool is_release = request.kind == RequestKind::release;
  const std::size_t opposed = is_release ? top_ups_in_flight_ : releases_pending_;
  if (opposed == 0 || !(is_release || request.tops_up)) return false;
  for (std::size_t i = 0; i < in_flight_.size(); ++i) {
    if (are_opposed(request, in_flight_[i].request)) return true;
  }
  return false;
}

}  // namespace redlock::coordinator
