#include "base/net/sockets/name_lookup.h"

#include "base/net/process/forks.h"
#include "base/net/turn/quiet_thread.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <netdb.h>
#include <netinet/in.h>
#include <string>
#include <utility>

namespace redlock::net {
namespace {

using Found = Result<NameLookup::Addresses>;

// Who asks for which name, and how they are told; each name has a thread as long as it stands here.
//
// Thread safety: any thread. Never destroyed: threads may outlive main().
class NamesAsked {
 public:
  using Tell = std::function<void(const Found&)>;

  // A forked child has none of the threads, and perhaps a mutex that stays locked: it begins anew.
  static NamesAsked& of_this_process() {
    static constinit std::atomic<NamesAsked*> present = nullptr;
    NamesAsked* asked = present.load();
    while (asked == nullptr || asked->mark_.is_in_child()) {
      auto begun = std::make_unique<NamesAsked>(asked);
      if (present.compare_exchange_strong(asked, begun.get())) return *begun.release();
    }
    return *asked;
  }

  explicit NamesAsked(NamesAsked* parents) : parents_(parents) {}

  // True: the first who asks for it, who finds it out for all.
  bool add(const std::string& name, const void* who, Tell tell) {
    const std::lock_guard lock(mutex_);
    const auto [asked, is_first] = waiting_.try_emplace(name);
    asked->second.emplace(who, std::move(tell));
    return is_first;
  }
  void remove(const std::string& name, const void* who) {
    const std::lock_guard lock(mutex_);
    const auto asked = waiting_.find(name);
    if (asked != waiting_.end()) asked->second.erase(who);
  }
  void tell(const std::string& name, const Found& found) {
    for (const auto& [who, tell] : take(name)) tell(found);
  }

 private:
  using Waiting = std::map<const void*, Tell>;

  Waiting take(const std::string& name) {
    const std::lock_guard lock(mutex_);
    return std::move(waiting_.extract(name).mapped());
  }

  const ForkMark mark_;
  [[maybe_unused]] NamesAsked* const parents_;  // whoever looks for leaks finds it
  std::mutex mutex_;
  std::map<std::string, Waiting> waiting_;
};

std::string reason_of(int status) {
  return status == EAI_SYSTEM ? std::strerror(errno) : gai_strerror(status);
}

// Without a port.
Found look_up(const std::string& name) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int status = getaddrinfo(name.c_str(), nullptr, &hints, &found);
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

void set_port(sockaddr_storage& address, std::uint16_t port) {
  if (address.ss_family == AF_INET) {
    reinterpret_cast<sockaddr_in&>(address).sin_port = htons(port);
  } else if (address.ss_family == AF_INET6) {
    reinterpret_cast<sockaddr_in6&>(address).sin6_port = htons(port);
  }
}

}  // namespace

NameLookup::NameLookup(Loop& loop, const Address& address, OnFound on_found)
    : address_(address), on_found_(std::move(on_found)), mailbox_(std::make_shared<Mailbox>(loop)) {
  NamesAsked& asked = NamesAsked::of_this_process();
  const auto post = [this, mailbox = mailbox_](const Found& found) {
    mailbox->post([this, found] { tell(found); });
  };
  if (!asked.add(address_.host, this, post)) return;
  Result<std::thread> thread =
      start_quiet_thread([&asked, name = address_.host] { asked.tell(name, look_up(name)); });
  if (thread) {
    thread->detach();
  } else {
    asked.tell(address_.host, Failure{thread.error().text});
  }
}

// A task that stands in the mailbox goes with it, so that `this` is there whenever one runs.
NameLookup::~NameLookup() {
  NamesAsked::of_this_process().remove(address_.host, this);
  mailbox_->close();
}

// This object may be gone after this.
void NameLookup::tell(Result<Addresses> found) {
  mailbox_->close();
  if (found) {
    for (sockaddr_storage& address : *found) set_port(address, address_.port);
  }
  const OnFound on_found = on_found_;
  on_found(found);
}

}  // namespace redlock::net
