#include "coordinator/link/link.h"

#include "base/invariant.h"
#include "base/text/duration_text.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace redlock::coordinator {

using protocol::Reply;

Link::Link(Credentials credentials, Random& random, bool is_doors,
           std::shared_ptr<RequestWriter> writer)
    : credentials_(std::move(credentials)),
      random_(random),
      writer_(std::move(writer)),
      relay_(is_doors) {}

void Link::start(Instant now) {
  INVARIANT(state_ == State::idle || state_ == State::backing_off, "a dial during a connection");
  state_ = State::dialing;
  wish_ = Wish::dial;
  began_at_ = now;
  deadline_ = later(now, kDialTimeMax);
}

void Link::start_elsewhere(Instant now) {
  INVARIANT(in_flight_.empty(), "a connection in use is not given up for another address");
  end_connection();
  identity_ = member_identity_ = NodeIdentity::unknown;
  state_ = State::backing_off;
  backoff_ = std::min(backoff_ * 2, kBackoffMax);
  start(now);
}

void Link::hasten(Instant by) {
  if (state_ == State::dialing || state_ == State::greeting) deadline_ = std::min(deadline_, by);
}

Link::Ticket Link::send(NodeRequest&& request, Instant now) {
  if (request.kind == RequestKind::release) ++releases_pending_;
  if (is_refused_vote(request)) [[unlikely]] {
    refuse_vote(std::move(request));
    return kRefused;
  }
  if (state_ == State::idle || state_ == State::backing_off) {
    Answer answer = problem_;
    answer.never_sent = true;
    fail(std::move(request), std::move(answer));
    return kRefused;
  }
  // A release is for a lock that was sent before: there are never more of them than that.
  const bool is_full =
      in_flight_.size() + waiting_.size() >= kInFlightMax || bytes_ >= kInFlightBytesMax;
  if (is_full && request.kind != RequestKind::release) {
    fail(std::move(request), {.kind = AnswerKind::overloaded,
                              .never_sent = true,
                              .text = fmt::format("{} requests wait for its answer already",
                                                  in_flight_.size() + waiting_.size())});
    return kRefused;
  }
  if (state_ == State::ready) {
    write(std::move(request), ScriptForm::by_sha, now);
    return kWritten;
  }
  bytes_ += bytes_of(request);
  waiting_.push_back({std::move(request)});
  return first_ticket_ + waiting_.size() - 1;
}

bool Link::withdraw(Ticket ticket) {
  if (ticket < first_ticket_ || ticket >= first_ticket_ + waiting_.size()) return false;
  Waiting& withdrawn = waiting_[ticket - first_ticket_];
  withdrawn.withdrawn = true;
  if (withdrawn.request.kind == RequestKind::acquire) note_vote(AnswerKind::none);
  while (!waiting_.empty() && waiting_.front().withdrawn) {
    bytes_ -= bytes_of(waiting_.front().request);
    waiting_.pop_front();
    ++first_ticket_;
  }
  return true;
}

bool Link::is_refused_vote(const NodeRequest& request) const {
  return (!votes_refused_.empty() || greet_again_ != kNever) && is_vote(request.kind);
}

void Link::refuse_vote(NodeRequest&& request) {
  if (!votes_refused_.empty()) return fail(std::move(request), wrong_list(true));
  fail(std::move(request), {.kind = AnswerKind::other_group,
                            .never_sent = true,
                            .text = "a change of the group is under way"});
}

Answer Link::wrong_list(bool never_sent) const {
  return {.kind = AnswerKind::other_group,
          .never_sent = never_sent,
          .is_wrong_list = true,
          .text = votes_refused_};
}

void Link::write(NodeRequest&& request, ScriptForm form, Instant now) {
  if (is_for_another(request)) {
    return fail(std::move(request), {.kind = AnswerKind::broken,
                                     .never_sent = true,
                                     .text = "the address leads to another node now"});
  }
  if (is_refused_vote(request)) [[unlikely]]
    return refuse_vote(std::move(request));
  if (!can_ask(request.kind, facts().kind)) {
    return fail(std::move(request), {.kind = AnswerKind::error,
                                     .never_sent = true,
                                     .text = "a plain Redis has no fencing tokens"});
  }
  request.tells_label =
      facts().status.takes_labels && request.claim != nullptr && !request.claim->label.empty();
  writer_->write(request, facts().kind, form, out_);
  if (in_flight_.empty()) {
    pulse_.on_first_question(now);
    if (silence_check_ == kNever) silence_check_ = later(now, kSilenceMax);
  }
  if (request.tops_up) ++top_ups_in_flight_;
  bytes_ += bytes_of(request);
  InFlight& sent = in_flight_.push_back();
  sent.request = std::move(request);
  sent.form = form;
  ++unwritten_;
}

void Link::complete(const NodeRequest& request, Answer&& answer, Reply&& reply) {
  if (request.kind == RequestKind::acquire) note_vote(answer.kind);
  if (!request.is_awaited()) return;
  completed_.push_back(
      {request.operation, request.wait, request.kind, std::move(answer), std::move(reply)});
}

void Link::note_vote(AnswerKind answer) {
  ++(answer == AnswerKind::yes ? votes_.yes : answer == AnswerKind::no ? votes_.no : votes_.none);
}

void Link::forget_figures() {
  votes_ = {};
  pulse_.forget_round_trips();
  relay_.forget_unsent();
}

// A release that failed is owed to the node; whoever waited for it is told at once.
void Link::fail(NodeRequest&& request, Answer answer) {
  complete(request, std::move(answer), {});
  if (request.kind != RequestKind::release) return;
  request.operation = kNobody;
  owed_bytes_ += bytes_of(request);
  owed_.push_back(std::move(request));
  if (owed_.size() <= kOwedMax && owed_bytes_ <= kOwedBytesMax) return;
  const auto kept = owed_.begin() + static_cast<std::ptrdiff_t>(owed_.size() / 2);
  std::for_each(owed_.begin(), kept,
                [this](const NodeRequest& forgotten) { owed_bytes_ -= bytes_of(forgotten); });
  releases_pending_ -= owed_.size() / 2;
  owed_.erase(owed_.begin(), kept);
}

void Link::on_connected(Instant now) {
  INVARIANT(state_ == State::dialing, "a connection that was not dialled");
  state_ = State::greeting;
  ++connection_;
  began_at_ = now;
  deadline_ = later(now, kGreetingTimeMax);
  greeting_.begin(credentials_, out_);
}

void Link::on_greeting(const Reply& reply, Instant now) {
  std::optional<Answer> problem = greeting_.on_reply(credentials_, reply, out_);
  if (problem) return give_up(std::move(*problem), now);
  if (greeting_.is_under_way()) return;
  pulse_.on_greeting(now);
  state_ = State::identified;
  identity_ = identity_of(facts().id);
  member_identity_ = member_identity_of(facts().id, facts().status.ledger_id);
  deadline_ = kNever;
}

void Link::accept(Instant now) {
  INVARIANT(state_ == State::identified, "a node is accepted that was not asked who it is");
  state_ = State::ready;
  began_ = true;
  backoff_ = kBackoffMin;
  // From the first step of a change that it stored a node gives no vote for the roster before it.
  const std::uint64_t epoch = roster_->roster.epoch;
  const bool is_changing = epoch > 0 && facts().status.accepted.epoch > epoch;
  if (is_changing) greet_again_ = later(now, kBackoffMin);
  greet_group(now);
  subscribe(now);
  drop_worthless_debts(now);
  owed_bytes_ = 0;
  for (NodeRequest& request : std::exchange(owed_, {})) {
    write(std::move(request), ScriptForm::in_full, now);  // in its place, whatever is known there
  }
  first_ticket_ += waiting_.size();
  for (Waiting& waiting : std::exchange(waiting_, {})) {
    bytes_ -= bytes_of(waiting.request);
    if (!waiting.withdrawn) write(std::move(waiting.request), ScriptForm::by_sha, now);
  }
}

// A plain Redis, and a node from before there were groups, know nothing of rosters.
void Link::greet_group(Instant now) {
  const NodeStatus& status = facts().status;
  if (status.standing.empty()) return;
  if (status.roster.epoch < roster_->roster.epoch) {
    write(group_learn(*roster_), ScriptForm::in_full, now);
  }
  write(group_hello(*roster_), ScriptForm::in_full, now);
}

void Link::reject(AnswerKind kind, std::string reason, Instant now) {
  INVARIANT(state_ == State::identified, "a node is rejected that was not asked who it is");
  backoff_ = kBackoffMax;
  give_up({.kind = kind, .text = std::move(reason)}, now);
}

void Link::end_for_change(Instant now) {
  give_up({.kind = AnswerKind::broken, .text = "the group's nodes have changed"}, now);
  backoff_ = kBackoffMin;
  deadline_ = now;
}

void Link::ask_again_who_it_is(Instant now) {
  give_up({.kind = AnswerKind::broken, .text = "is asked again which group it is of"}, now);
  backoff_ = kBackoffMin;
  deadline_ = now;
}

void Link::on_end(std::string_view reason, Instant now) {
  const bool was_connected = state_ != State::dialing;
  std::string text(reason.empty() ? "the connection ended before the answer" : reason);
  give_up(
      {.kind = was_connected ? AnswerKind::broken : AnswerKind::refused, .text = std::move(text)},
      now);
}

bool Link::is_for_another(const NodeRequest& request) const {
  return request.meant_for != NodeIdentity::unknown && request.meant_for != identity_;
}

void Link::end_connection() {
  greeting_.clear();
  relay_.on_end();
  received_.clear();
  parser_ = {};
  out_.clear();
  silence_check_ = greet_again_ = kNever;
  unwritten_ = 0;
  top_ups_in_flight_ = 0;
}

// The connection is over, or never came: everybody is told why, and the next dial is set.
void Link::give_up(Answer why, Instant now) {
  state_ = State::backing_off;
  wish_ = Wish::hang_up;
  end_connection();
  problem_ = why;
  bytes_ = 0;
  auto lost = std::exchange(in_flight_, {});
  while (!lost.empty()) fail(std::move(lost.take_front().request), why);
  why.never_sent = true;
  first_ticket_ += waiting_.size();
  for (Waiting& waiting : std::exchange(waiting_, {})) {
    if (!waiting.withdrawn) fail(std::move(waiting.request), why);
  }
  drop_worthless_debts(now);
  // Between half and all of it, so that the clients of a restarted node do not all come at once.
  const auto half = static_cast<std::uint64_t>(backoff_.count() / 2);
  deadline_ = later(now, Duration(half + random_.below(half)));
  backoff_ = std::min(backoff_ * 2, kBackoffMax);
}

void Link::drop_worthless_debts(Instant now) {
  releases_pending_ -= std::erase_if(owed_, [&](const NodeRequest& request) {
    const bool is_worthless = request.worth_until <= now;
    if (is_worthless) owed_bytes_ -= bytes_of(request);
    return is_worthless;
  });
}

void Link::on_time(Instant now) {
  if (now >= deadline_) {
    if (state_ == State::backing_off) return start(now);
    const Duration limit = deadline_ - began_at_;
    const AnswerKind kind = state_ == State::dialing ? AnswerKind::refused : AnswerKind::broken;
    return give_up(
        {.kind = kind,
         .text = fmt::format("no answer to a connection within {}", spoken_duration(limit))},
        now);
  }
  if (now >= greet_again_ && is_idle()) return ask_again_who_it_is(now);
  if (now < silence_check_) return;
  silence_check_ = kNever;
  if (in_flight_.empty()) return;
  if (now < later(pulse_.heard(), kSilenceMax)) {
    silence_check_ = later(pulse_.heard(), kSilenceMax);
    return;
  }
  give_up({.kind = AnswerKind::broken,
           .text = fmt::format("nothing heard for {}", spoken_duration(kSilenceMax))},
          now);
}

std::optional<Instant> Link::next_deadline() const {
  Instant next = std::min(deadline_, silence_check_);
  if (is_idle()) next = std::min(next, greet_again_);
  if (next == kNever) return std::nullopt;
  return next;
}

Link::Wish Link::take_wish() {
  return std::exchange(wish_, Wish::none);
}

void Link::take_completions(std::vector<Completion>& completions) {
  if (completions.empty()) return completions.swap(completed_);
  std::move(completed_.begin(), completed_.end(), std::back_inserter(completions));
  completed_.clear();
}

}  // namespace redlock::coordinator
