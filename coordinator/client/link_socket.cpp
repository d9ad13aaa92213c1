#include "coordinator/client/link_socket.h"

#include "base/invariant.h"

#include <utility>

namespace redlock::coordinator {
namespace {

// A peer whose machine is gone is noticed by the link's silence limit; this is for idle links.
constexpr Duration kKeepalive = 30s;

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

}  // namespace redlock::coordinator
