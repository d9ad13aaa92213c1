#include "coordinator/client/link_socket.h"

#include "base/invariant.h"

#include <utility>

namespace redlock::coordinator {
namespace {

// A peer whose machine is gone is noticed by the link's silence limit; this is for idle links.
constexpr Duration kKeepalive = 30s;

// What a port for TLS does with a greeting in the clear.
constexpr std::string_view kEndedUnheard =
    "the connection ended before the first answer (a port for TLS is named as rediss://…)";

}  // namespace

LinkSocket::LinkSocket(net::Loop& loop, NodePlace place, net::TlsClient* tls, NodeIndex node,
                       User& user)
    : loop_(loop),
      address_(std::move(place.address)),
      tls_(place.is_tls ? tls : nullptr),
      node_(node),
      user_(user) {
  INVARIANT(tls_ != nullptr || !place.is_tls, "a node wants TLS, and nobody speaks it");
}

void LinkSocket::dial() {
  reads_.reset();
  has_heard_ = false;
  stream_ = net::Stream::connect(loop_, address_, *this, dials_in_vain_++);
  if (tls_ != nullptr) stream_->protect(tls_->channel(address_.host));
}

void LinkSocket::write(std::string_view bytes) {
  if (stream_) stream_->write(bytes);
}

void LinkSocket::set_reading(bool reads) {
  if (!stream_ || !reads_ || *reads_ == reads) return;
  reads_ = reads;
  if (reads) {
    stream_->start_reading();
  } else {
    stream_->stop_reading();
  }
}

void LinkSocket::on_connected() {
  dials_in_vain_ = 0;
  stream_->set_keepalive(kKeepalive);
  reads_ = true;
  stream_->start_reading();
  user_.on_connected(node_);
}

void LinkSocket::on_bytes(std::string_view bytes) {
  has_heard_ = true;
  user_.on_bytes(node_, bytes);
}

void LinkSocket::on_end(std::string_view reason) {
  const bool may_want_tls = tls_ == nullptr && !address_.is_unix();
  const bool is_mute = reason.empty() && reads_ && !has_heard_;
  user_.on_end(node_, is_mute && may_want_tls ? kEndedUnheard : reason);
}

}  // namespace redlock::coordinator
