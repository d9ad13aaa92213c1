// A stream with a channel: what comes is unsealed on its way to the user, and what the user writes
// is sealed on its way to the socket.
#include "base/net/sockets/stream.h"
#include "base/net/turn/clock.h"
#include "base/net/turn/costly_work.h"

#include <algorithm>
#include <utility>

namespace redlock::net {
namespace {

// More than this in one piece is queued as it is; less is copied, and the loop's buffer used again.
constexpr std::size_t kCopiedBytesMax = 64 * 1024;
// A peer can make a channel answer (TLS: a new key, a refusal) for as long as it likes. It is told
// far less than this in a connection, and reads that.
constexpr std::size_t kAnswersUnreadMax = 64 * 1024;

}  // namespace

bool Stream::is_opening() const {
  return protection_ && protection_->is_opening;
}

std::string Stream::peer_name() const {
  return protection_ ? protection_->channel->peer_name() : "";
}

void Stream::protect(std::unique_ptr<Channel> channel) {
  const bool dials = descriptor_ < 0;
  protection_ = std::make_shared<Protection>(Protection{std::move(channel), dials});
  if (!dials) open_channel();
}

void Stream::open_channel() {
  std::string& sealed = loop_.sealed_buffer();
  sealed.clear();
  protection_->channel->begin(sealed);
  if (!sealed.empty()) write_raw(sealed);
  read_raw();
}

// The stream may be gone after this.
void Stream::on_channel_open() {
  protection_->is_opening = false;
  const std::string unsealed = std::exchange(protection_->unsealed, {});
  if (!unsealed.empty()) write_sealed(unsealed);
  if (ending_) return shut_down();
  user_->on_connected();
}

// Stands in the loop's buffer.
std::string& Stream::seal(std::string_view bytes) {
  std::string& sealed = loop_.sealed_buffer();
  sealed.clear();
  if (protection_->channel->state() == Channel::State::open && !bytes.empty()) {
    protection_->channel->seal(bytes, sealed);
  }
  return sealed;
}

// No part of what is sealed is shorter than what it holds.
std::size_t Stream::send_sealed(std::string_view bytes) {
  if (bytes.empty() || protection_->is_opening || queued_raw() > 0) return 0;
  const std::string& sealed = seal(bytes);
  const std::size_t sent = send_raw(sealed);
  const bool is_all = sent == sealed.size() && sent > 0;
  return is_all ? bytes.size() : std::min(sent, bytes.size() - 1);
}

void Stream::write_sealed(std::string_view bytes) {
  if (protection_->is_opening) {
    protection_->unsealed += bytes;
    return;
  }
  std::string& sealed = seal(bytes);
  if (sealed.size() > kCopiedBytesMax) return hand_over_raw(std::move(sealed));
  if (!sealed.empty()) write_raw(sealed);
}

// By somebody whom it costs a thousandth of what it costs here.
bool Stream::is_asked_to_open() const {
  return is_opening() && !protection_->is_dialling;
}

// What came stays with the kernel, and wakes nobody: libuv asks for events until there are fewer
// than it has places for, so a thousand streams that are ready and not read would be its only turn.
void Stream::open_later() {
  uv_read_stop(raw());
  loop_.costly_work().do_later([this, protection = protection_] {
    if (protection->is_gone || !is_open()) return;
    read_raw();
    receive();
    take_received();
  });
}

// The user may destroy the stream in each of its calls.
void Stream::take_sealed(std::string_view came) {
  const std::shared_ptr<Protection> protection = protection_;
  std::vector<char>& plain = loop_.unsealed_buffer();
  std::string& sealed = loop_.sealed_buffer();
  sealed.clear();
  std::size_t size = 0;
  const bool is_asked = is_asked_to_open();
  const Instant began = is_asked ? read_clock(ClockKind::monotonic) : Instant{};
  const Channel::State state = protection_->channel->receive(came, plain, size, sealed);
  if (is_asked) loop_.costly_work().note(read_clock(ClockKind::monotonic) - began);
  if (!answer_peer(sealed)) return finish("it does not read what its TLS makes us say");
  if (state == Channel::State::failed) return finish(protection_->channel->problem());
  if (protection->is_opening && state != Channel::State::opening) on_channel_open();
  if (protection->is_gone) return;
  if (size > 0 && is_open() && !ending_) user_->on_bytes({plain.data(), size});
  if (protection->is_gone) return;
  if (state != Channel::State::ended || !is_open()) return;
  say_last_word();
  finish({});
}

// False: what the peer made the channel say waits for it to read, and is too much.
bool Stream::answer_peer(std::string& sealed) {
  if (queued_raw() == 0) protection_->answers_unread = 0;
  if (sealed.empty()) return true;
  write_raw(sealed);
  if (queued_raw() > 0) protection_->answers_unread += sealed.size();
  return protection_->answers_unread <= kAnswersUnreadMax;
}

void Stream::say_last_word() {
  if (!is_open() || descriptor_ < 0 || protection_->is_opening) return;
  const Channel::State state = protection_->channel->state();
  if (state != Channel::State::open && state != Channel::State::ended) return;
  std::string& sealed = loop_.sealed_buffer();
  sealed.clear();
  protection_->channel->close(sealed);
  if (ending_) return write_raw(sealed);
  static_cast<void>(send_raw(sealed));
}

}  // namespace redlock::net
