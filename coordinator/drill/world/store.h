// The store as a server, in the drill's process: see token_store.h and store_link.h.
#pragma once

#include "base/net/sockets/listener.h"
#include "base/net/turn/loop.h"
#include "coordinator/drill/world/store_link.h"
#include "coordinator/drill/world/token_store.h"

#include <functional>
#include <map>
#include <memory>
#include <string>

namespace redlock::drill {

// Thread safety: none; all on the loop's thread.
class Store {
 public:
  // on_write comes when a write was decided, before its answer is sent.
  using OnWrite = std::function<void(const StoreWrite& write, bool accepted)>;

  Store(net::Loop& loop, OnWrite on_write);
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  Status listen(const std::string& path);

 private:
  class Connection;
  void welcome(std::unique_ptr<net::Stream> stream);
  bool decide(const StoreWrite& write);

  net::Loop& loop_;
  OnWrite on_write_;
  TokenStore tokens_;
  std::unique_ptr<net::Listener> listener_;
  std::map<Connection*, std::unique_ptr<Connection>> connections_;
};

}  // namespace redlock::drill
