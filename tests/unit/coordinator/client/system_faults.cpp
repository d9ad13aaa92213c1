#include "tests/unit/coordinator/client/system_faults.h"

#include <arpa/inet.h>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <dlfcn.h>
#include <map>
#include <mutex>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <unistd.h>

namespace redlock {
namespace {

std::atomic<bool> threads_are_refused = false;

struct Names {
  std::mutex mutex;
  std::condition_variable changed;
  bool are_hung = false;
  std::map<std::string, std::vector<std::string>> given;
};

// Threads that wait for a name may outlive main().
Names& names() {
  static auto* const all = new Names;
  return *all;
}

addrinfo* make_address(const std::string& text, const char* port, addrinfo* next) {
  auto* const address = new sockaddr_in{};
  address->sin_family = AF_INET;
  address->sin_port = htons(static_cast<std::uint16_t>(std::stoi(port)));
  inet_pton(AF_INET, text.c_str(), &address->sin_addr);
  auto* const info = new addrinfo{};
  info->ai_family = AF_INET;
  info->ai_socktype = SOCK_STREAM;
  info->ai_addrlen = sizeof *address;
  info->ai_addr = reinterpret_cast<sockaddr*>(address);
  info->ai_next = next;
  return info;
}

int answer(const std::string& name, const char* port, addrinfo** found) {
  Names& all = names();
  std::unique_lock lock(all.mutex);
  if (name.starts_with("hung")) {
    all.changed.wait(lock, [&] { return !all.are_hung; });
    return EAI_NONAME;
  }
  const auto given = all.given.find(name);
  if (given == all.given.end()) return EAI_NONAME;
  addrinfo* list = nullptr;
  for (auto one = given->second.rbegin(); one != given->second.rend(); ++one) {
    list = make_address(*one, port, list);
  }
  *found = list;
  return 0;
}

void hang(bool on) {
  const std::lock_guard lock(names().mutex);
  names().are_hung = on;
  names().changed.notify_all();
}

}  // namespace

NoThreads::NoThreads() {
  threads_are_refused = true;
}
NoThreads::~NoThreads() {
  threads_are_refused = false;
}

HungNames::HungNames() {
  hang(true);
}
HungNames::~HungNames() {
  hang(false);
}

void give_name(const std::string& name, const std::vector<std::string>& addresses) {
  const std::lock_guard lock(names().mutex);
  names().given[name] = addresses;
}

// The limit is one of numbers, and a new file gets the lowest that is free.
FewFiles::FewFiles(std::size_t more) {
  getrlimit(RLIMIT_NOFILE, &before_);
  std::vector<int> free;
  while (free.size() <= more) free.push_back(dup(STDIN_FILENO));
  const rlimit few{static_cast<rlim_t>(free.back()), before_.rlim_max};
  setrlimit(RLIMIT_NOFILE, &few);
  for (const int one : free) close(one);
}
FewFiles::~FewFiles() {
  setrlimit(RLIMIT_NOFILE, &before_);
}

}  // namespace redlock

extern "C" {

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                   void* argument) noexcept {
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto real = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  if (redlock::threads_are_refused) return EAGAIN;
  return real(thread, attributes, run, argument);
}

int getaddrinfo(const char* name, const char* port, const addrinfo*, addrinfo** found) {
  return redlock::answer(name, port, found);
}

void freeaddrinfo(addrinfo* list) noexcept {
  while (list != nullptr) {
    addrinfo* const next = list->ai_next;
    delete reinterpret_cast<sockaddr_in*>(list->ai_addr);
    delete list;
    list = next;
  }
}

}  // extern "C"
