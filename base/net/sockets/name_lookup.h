// NameLookup: the addresses of a host name, asked of the system's resolver.
//
// A resolver may take many seconds for a name when its servers do not answer, and getaddrinfo(3)
// cannot be interrupted. So each name has a thread of its own: a hung name holds up no other, and
// whoever loses interest does not wait for it. The thread ends when the resolver has answered, and
// touches nothing that the loop's thread uses. In a process there is at most one for a name: who
// asks for it meanwhile waits for that one's answer. So names that hang cost a thread each, however
// often they are dialled.
#pragma once

#include "base/net/sockets/address.h"
#include "base/net/turn/loop.h"
#include "base/net/turn/mailbox.h"
#include <redlock/result.h>

#include <functional>
#include <memory>
#include <sys/socket.h>
#include <vector>

namespace redlock::net {

class NameLookup {
 public:
  // In the order in which they are to be tried; at least one.
  using Addresses = std::vector<sockaddr_storage>;
  using OnFound = std::function<void(const Result<Addresses>&)>;

  // Begins. `on_found` comes on the loop, never from inside this call, and may destroy this object.
  // The loop is kept alive until then.
  NameLookup(Loop& loop, const Address& address, OnFound on_found);
  // on_found does not come any more. Does not wait.
  ~NameLookup();
  NameLookup(const NameLookup&) = delete;
  NameLookup& operator=(const NameLookup&) = delete;

 private:
  void tell(Result<Addresses> found);

  const Address address_;
  const OnFound on_found_;
  const std::shared_ptr<Mailbox> mailbox_;  // the thread's, too
};

}  // namespace redlock::net
