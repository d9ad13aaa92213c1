#include "protocol/session/session.h"

#include "base/invariant.h"
#include "protocol/access/user.h"
#include "protocol/session/sessions.h"

#include <algorithm>

namespace redlock::protocol {
namespace {

constexpr std::size_t kKeptBytes = 16 * 1024;  // of memory for a backlog that has gone

}  // namespace

bool is_printable_word(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '!' && c <= '~'; });
}

Session::Session(Sessions& home, Id id, Peer peer, bool authenticated, Instant opened)
    : home_(home),
      id_(id),
      peer_(std::move(peer)),
      opened_(opened),
      last_request_(opened),
      authenticated_(authenticated) {
  parser_.set_authenticated(authenticated);
}

void Session::receive(std::string_view bytes, Now now, Service& service) {
  if (closing_) return;
  take(bytes, now, service);
  is_held_back_ = !closing_ && !is_waiting() && !has_room() && !backlog_.empty();
  settle_bytes();
}

void Session::take(std::string_view bytes, Now now, Service& service) {
  if (backlog_.empty()) {
    const std::size_t used = consume(bytes, now, service);
    if (!closing_ && used < bytes.size()) backlog_.assign(bytes.substr(used));
    return;
  }
  backlog_.append(bytes);
  if (!executes() && backlog_.size() > kRequestBytesMax) {
    close_after_output();
    return;
  }
  const std::size_t used = consume(backlog_, now, service);
  backlog_.erase(0, used);
  if (backlog_.capacity() > kKeptBytes && backlog_.size() <= kKeptBytes) backlog_.shrink_to_fit();
}

// What is plain is understood and executed in batches; the rest, and what comes before a password,
// request by request.
std::size_t Session::consume(std::string_view bytes, Now now, Service& service) {
  std::size_t used = 0;
  RequestBatch batch;
  while (executes() && used < bytes.size()) {
    const bool may_be_plain = authenticated_ && !parser_.is_within_request();
    if (may_be_plain && batch.read(bytes.substr(used)) > 0) {
      used += execute(batch, now, service);
      continue;
    }
    switch (parser_.parse(bytes.substr(used))) {
      case RequestParser::State::incomplete:
        return used;
      case RequestParser::State::broken:
        write(Reply::error("ERR " + parser_.problem()));
        close_after_output();
        return bytes.size();
      case RequestParser::State::complete:
        break;
    }
    const std::size_t size = parser_.consumed();
    const Request request = parser_.request();
    if (!request.empty() && !execute(request, now, service)) return used;
    used += size;
  }
  return used;
}

// Returns how many bytes were executed: fewer than the batch's when one of its requests has the
// others wait.
std::size_t Session::execute(const RequestBatch& batch, Now now, Service& service) {
  if (batch.size() > 1) service.expect(batch.requests());
  std::size_t used = 0;
  for (std::size_t i = 0; i < batch.size() && executes(); ++i) {
    if (!execute(batch[i], now, service)) return used;
    used = batch.end(i);
  }
  return used;
}

// False: it was postponed, and comes again.
bool Session::execute(Request request, Now now, Service& service) {
  last_request_ = now.monotonic;
  const Reply reply = service.execute(*this, request, now);
  if (reply.is(Reply::Kind::postponed)) {
    if (!has_given_way()) waiting_for_ = WaitingFor::retry;
    return false;
  }
  if (reply.is(Reply::Kind::later)) waiting_for_ = WaitingFor::reply;
  answer(reply);
  return true;
}

// Touched also when there is nothing to write, or to execute, as it is closing: its shell may have
// waited for this.
void Session::resume(const Reply& reply, Now now, Service& service) {
  INVARIANT(waiting_for_ == WaitingFor::reply, "a late reply for a session that waits for none");
  waiting_for_ = WaitingFor::nothing;
  answer(reply);
  touch();
  receive({}, now, service);
}

void Session::retry(Now now, Service& service) {
  INVARIANT(is_postponed(), "nothing was postponed");
  waiting_for_ = WaitingFor::nothing;
  touch();  // as in resume()
  receive({}, now, service);
}

// Touched also when nothing is left to execute: its shell reads on.
void Session::go_on(Now now, Service& service) {
  INVARIANT(has_given_way(), "a turn for a session that waits for none");
  waiting_for_ = WaitingFor::nothing;
  touch();
  receive({}, now, service);
}

void Session::answer_and_give_way(const Reply& reply) {
  INVARIANT(waiting_for_ == WaitingFor::reply, "a late reply for a session that waits for none");
  waiting_for_ = WaitingFor::turn;
  answer(reply);
}

void Session::note_unsent(std::size_t bytes) {
  unsent_bytes_ = bytes;
  settle_bytes();
}

// Small, so that it stands in line where requests are executed.
void Session::write(const Reply& reply) {
  const bool is_usual = cut_ == Cut::no && !reply.is(Reply::Kind::too_large);
  if (!is_usual || reply.is_aggregate()) [[unlikely]]
    return write_large(reply);
  write_reply(reply, version_, output_);
  touch();
}

// A reply of many parts, or one that is not told.
void Session::write_large(const Reply& reply) {
  if (cut_ != Cut::no) return;
  if (reply.is(Reply::Kind::too_large)) return cut_off(Cut::reply_too_large);
  output_.reserve_large(reply.memory_bytes());
  write_reply(reply, version_, output_);
  touch();
}

void Session::tell(const Reply& reply, std::size_t unread_bytes_max) {
  if (closing_) return;
  write(reply);
  if (unread_bytes_max > 0 && output_.size() > unread_bytes_max) close_after_output();
  settle_bytes();
}

void Session::answer(const Reply& reply) {
  if (answers_ == Answers::told || reply.is(Reply::Kind::later)) return write(reply);
  if (answers_ == Answers::next_dropped) {
    answers_ = drops_this_answer_ ? Answers::told : Answers::next_dropped;
    drops_this_answer_ = !drops_this_answer_;
  }
  write_pushes(reply);
  touch();
}

// SUBSCRIBE's confirmations are told whatever the client wants of answers, as in Redis.
void Session::write_pushes(const Reply& reply) {
  if (!reply.is(Reply::Kind::sequence)) return;
  for (const Reply& item : reply.items()) {
    if (item.is(Reply::Kind::push)) write(item);
  }
}

// SKIP is about the request after it, and does not turn answers on again.
void Session::set_answers(Answers answers) {
  if (answers == Answers::next_dropped && answers_ == Answers::dropped) return;
  answers_ = answers;
  drops_this_answer_ = false;
}

void Session::begin_transaction() {
  INVARIANT(transaction_ == nullptr, "a transaction inside another");
  transaction_ = std::make_unique<Transaction>();
  enter(kInTransaction);
}

std::unique_ptr<Transaction> Session::take_transaction() {
  leave(kInTransaction);
  return std::move(transaction_);
}

void Session::close_after_output() {
  closing_ = true;  // what stands in the backlog may be the request under way: it stays
  touch();
}

// The backlog stays for the same reason. It goes with the session.
void Session::cut_off(Cut why) {
  if (cut_ != Cut::no) return;
  bytes_when_cut_ = memory_bytes();
  cut_ = why;
  output_.clear();
  close_after_output();
  settle_bytes();
}

void Session::set_authenticated(bool authenticated) {
  authenticated_ = authenticated;
  parser_.set_authenticated(authenticated);
}

void Session::set_user(std::shared_ptr<const User> user) {
  user_ = std::move(user);
  note_user_changed();
}

void Session::note_user_changed() {
  const bool has_all_rights = user_ == nullptr || user_->has_all_rights();
  has_all_rights ? leave(kRestricted) : enter(kRestricted);
}

std::string_view Session::user_name() const {
  return user_ == nullptr ? kDefaultUser : std::string_view(user_->name());
}

void Session::reset(bool authenticated) {
  version_ = Version::resp2;
  set_authenticated(authenticated);
  transaction_.reset();
  modes_ &= kRestricted;
  set_answers(Answers::told);
  name.clear();
  group_epoch.reset();
  no_evict = false;
  no_touch = false;
}

std::size_t Session::memory_bytes() const {
  const std::size_t queued = transaction_ != nullptr ? transaction_->bytes() : 0;
  return sizeof(Session) + backlog_.size() + queued + output_.size() + unsent_bytes_ + kept_bytes;
}

// One that is cut off is as good as gone.
void Session::settle_bytes() {
  const std::size_t bytes = cut_ == Cut::no ? memory_bytes() : 0;
  home_.bytes_ += bytes - settled_bytes_;
  settled_bytes_ = bytes;
  if (home_.bytes_ > home_.bytes_max_ && cut_ == Cut::no) [[unlikely]]
    home_.make_room();
}

void Session::touch() {
  if (touched_) return;
  touched_ = true;
  touched_at_ = home_.touched_.size();
  home_.touched_.push_back(this);
}

}  // namespace redlock::protocol
