#include "base/net/sockets/name_lookup.h"

#include "base/net/turn/quiet_thread.h"

#include <cerrno>
#include <cstring>
#include <netdb.h>
#include <string>
#include <utility>

namespace redlock::net {
namespace {

std::string reason_of(int status) {
  return status == EAI_SYSTEM ? std::strerror(errno) : gai_strerror(status);
}

Result<NameLookup::Addresses> look_up(const Address& address) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const std::string port = std::to_string(address.port);
  const int status = getaddrinfo(address.host.c_str(), port.c_str(), &hints, &found);
  if (status != 0) return Failure{reason_of(status)};
  NameLookup::Addresses addresses;
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    if (one->ai_addrlen > sizeof(sockaddr_storage)) continue;
    std::memcpy(&addresses.emplace_back(), one->ai_addr, one->ai_addrlen);
  }
  freeaddrinfo(found);
  if (addresses.empty()) return Failure{"the name has no address"};
  return addresses;
}

}  // namespace

NameLookup::NameLookup(Loop& loop, const Address& address, OnFound on_found)
    : on_found_(std::move(on_found)), mailbox_(std::make_shared<Mailbox>(loop)) {
  auto ask = [this, mailbox = mailbox_, address] {
    mailbox->post([this, found = look_up(address)] { tell(found); });
  };
  Result<std::thread> thread = start_quiet_thread(std::move(ask));
  if (thread) {
    std::move(thread).value().detach();
  } else {
    mailbox_->post([this, why = thread.error().text] { tell(Failure{why}); });
  }
}

// A task that stands in the mailbox goes with it, so that `this` is there whenever one runs.
NameLookup::~NameLookup() {
  mailbox_->close();
}

// This object may be gone after this.
void NameLookup::tell(const Result<Addresses>& found) {
  mailbox_->close();
  const OnFound on_found = on_found_;
  on_found(found);
}

}  // namespace redlock::net
