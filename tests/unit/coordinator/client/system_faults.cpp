#include "tests/unit/coordinator/client/system_faults.h"

#include <arpa/inet.h>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <dlfcn.h>
#include <filesystem>
#include <iterator>
#include <map>
#include <mutex>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

namespace redlock {
namespace {

std::atomic<bool> threads_are_refused = false;

struct Descriptors {
  bool are_counted = false;
  bool was_missing = false;
  int left = 0;
};
thread_local Descriptors descriptors;

bool is_descriptor_refused() {
  if (!descriptors.are_counted || descriptors.left-- > 0) return false;
  descriptors.was_missing = true;
  errno = EMFILE;
  return true;
}

template <class Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

struct Names {
  std::mutex mutex;
  std::condition_variable changed;
  bool are_hung = false;
  std::map<std::string, std::vector<std::string>> given;
  std::map<std::string, int> lookups;
};

// Threads that wait for a name may outlive main().
Names& names() {
  static auto* const all = new Names;
  return *all;
}

addrinfo* make_address(const std::string& text, addrinfo* next) {
  auto* const address = new sockaddr_in{};
  address->sin_family = AF_INET;
  inet_pton(AF_INET, text.c_str(), &address->sin_addr);
  auto* const info = new addrinfo{};
  info->ai_family = AF_INET;
  info->ai_socktype = SOCK_STREAM;
  info->ai_addrlen = sizeof *address;
  info->ai_addr = reinterpret_cast<sockaddr*>(address);
  info->ai_next = next;
  return info;
}

int answer(const std::string& name, addrinfo** found) {
  Names& all = names();
  std::unique_lock lock(all.mutex);
  ++all.lookups[name];
  if (name.starts_with("hung")) all.changed.wait(lock, [&] { return !all.are_hung; });
  const auto given = all.given.find(name);
  if (given == all.given.end()) return EAI_NONAME;
  addrinfo* list = nullptr;
  for (auto one = given->second.rbegin(); one != given->second.rend(); ++one) {
    list = make_address(*one, list);
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

int lookups_of(const std::string& name) {
  const std::lock_guard lock(names().mutex);
  return names().lookups[name];
}

NoDescriptor::NoDescriptor(int given_before) {
  descriptors = {.are_counted = true, .was_missing = false, .left = given_before};
}
NoDescriptor::~NoDescriptor() {
  descriptors = {};
}
bool NoDescriptor::was_missing() {
  return descriptors.was_missing;
}

// One of them is the folder that is being read.
std::size_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all))) - 1;
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

int epoll_create1(int flags) noexcept {
  static auto* const create = redlock::real<int(int)>("epoll_create1");
  return redlock::is_descriptor_refused() ? -1 : create(flags);
}

int eventfd(unsigned count, int flags) noexcept {
  static auto* const create = redlock::real<int(unsigned, int)>("eventfd");
  return redlock::is_descriptor_refused() ? -1 : create(count, flags);
}

int timerfd_create(clockid_t clock, int flags) noexcept {
  static auto* const create = redlock::real<int(clockid_t, int)>("timerfd_create");
  return redlock::is_descriptor_refused() ? -1 : create(clock, flags);
}

int pipe2(int* ends, int flags) noexcept {
  static auto* const create = redlock::real<int(int*, int)>("pipe2");
  return redlock::is_descriptor_refused() ? -1 : create(ends, flags);
}

int socket(int domain, int type, int protocol) noexcept {
  static auto* const create = redlock::real<int(int, int, int)>("socket");
  return redlock::is_descriptor_refused() ? -1 : create(domain, type, protocol);
}

int getaddrinfo(const char* name, const char*, const addrinfo*, addrinfo** found) {
  return redlock::answer(name, found);
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
