// The socket of one Link: dials, reads, writes, and tells of it. The Link says what it means.
#pragma once

#include "base/net/sockets/stream.h"
#include "base/net/tls/tls_client.h"
#include "base/net/turn/loop.h"
#include "coordinator/quorum/answer.h"

#include <memory>
#include <optional>
#include <string_view>

namespace redlock::coordinator {

// Where a node is, and whether it is spoken to by TLS.
struct NodePlace {
  net::Address address;
  bool is_tls = false;
};

class LinkSocket : private net::Stream::User {
 public:
  class User {
   public:
    virtual ~User() = default;
    virtual void on_connected(NodeIndex node) = 0;
    virtual void on_bytes(NodeIndex node, std::string_view bytes) = 0;
    // The connection is over or could not be made; empty reason: the node ended it,
    // and nothing more is known.
    virtual void on_end(NodeIndex node, std::string_view reason) = 0;
  };

  // All outlive the link. tls: nullptr where the place needs none.
  LinkSocket(net::Loop& loop, NodePlace place, net::TlsClient* tls, NodeIndex node, User& user);

  // Drops the connection that there was. The outcome comes as on_connected or on_end.
  void dial();
  void hang_up() { stream_.reset(); }
  void write(std::string_view bytes);
  // False: what the node says waits in the kernel, and behind that at the node, which may end the
  // connection for it. Each connection begins with true.
  void set_reading(bool reads);

 private:
  void on_connected() override;
  void on_bytes(std::string_view bytes) override;
  void on_end(std::string_view reason) override;

  net::Loop& loop_;
  net::Address address_;
  net::TlsClient* tls_;  // nullptr: in the clear
  NodeIndex node_;
  User& user_;
  std::unique_ptr<net::Stream> stream_;
  std::optional<bool> reads_;      // from a connection's beginning on
  bool has_heard_ = false;         // over this connection
  std::size_t dials_in_vain_ = 0;  // in a row
};

}  // namespace redlock::coordinator
