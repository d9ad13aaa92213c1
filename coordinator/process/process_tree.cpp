#include "coordinator/process/process_tree.h"

#include "base/invariant.h"

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

namespace redlock::coordinator {
namespace {

constexpr std::size_t kProcessesMax = 4'194'304;  // the kernel's own limit, PID_MAX_LIMIT
constexpr std::size_t kFoundBytes = kProcessesMax * sizeof(pid_t);

// As the kernel fills it; libc's readdir allocates.
struct FolderEntry {
  std::uint64_t inode;
  std::int64_t offset;
  std::uint16_t size;
  std::uint8_t type;
  char name[1];
};

// "/proc/PID/stat" with its zero at the end.
struct StatPath {
  explicit StatPath(pid_t pid) {
    char* end = std::to_chars(text + sizeof kFolder - 1, text + sizeof text, pid).ptr;
    std::memcpy(text, kFolder, sizeof kFolder - 1);
    std::memcpy(end, "/stat", sizeof "/stat");
  }
  static constexpr char kFolder[] = "/proc/";
  char text[32];
};

// The next number of a line of them, and the rest of the line.
pid_t take_number(std::string_view& text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  pid_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  text.remove_prefix(static_cast<std::size_t>(parsed.ptr - text.data()));
  return number;
}

void skip_words(std::string_view& text, int count) {
  for (; count > 0 && !text.empty(); --count) {
    text.remove_prefix(1);
    text.remove_prefix(std::min(text.find(' '), text.size()));
  }
}

// "4711 (name) S parent group session …", and the threads as the 20th;
// the name may hold blanks and parentheses.
bool parse(std::string_view text, ProcessEntry& entry) {
  const std::size_t name = text.find('(');
  const std::size_t name_end = text.rfind(')');
  if (name == std::string_view::npos || name_end == std::string_view::npos) return false;
  if (text.size() < name_end + 4) return false;
  const std::size_t length = std::min(name_end - name - 1, sizeof entry.name - 1);
  std::memcpy(entry.name, text.data() + name + 1, length);
  entry.name[length] = '\0';
  entry.state = text[name_end + 2];
  text.remove_prefix(name_end + 3);
  entry.parent = take_number(text);
  entry.group = take_number(text);
  entry.session = take_number(text);
  skip_words(text, 13);
  entry.threads = take_number(text);
  return true;
}

}  // namespace

bool proc_is_ours() {
  char self[16] = {};
  const ssize_t length = readlink("/proc/self", self, sizeof self - 1);
  std::string_view number(self, static_cast<std::size_t>(std::max<ssize_t>(length, 0)));
  return take_number(number) == getpid() && number.empty();
}

bool read_process(pid_t pid, ProcessEntry& entry) {
  const int file = open(StatPath(pid).text, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  char text[512];
  const ssize_t count = read(file, text, sizeof text);
  close(file);
  entry.pid = pid;
  return count > 0 && parse({text, static_cast<std::size_t>(count)}, entry);
}

// Those of its first thread, which are what this thread has forked and all orphans that come
// to the process.
std::optional<std::vector<pid_t>> read_children() {
  std::ifstream file(fmt::format("/proc/{0}/task/{0}/children", getpid()));
  if (!file) return std::nullopt;
  std::vector<pid_t> children;
  for (pid_t child = 0; file >> child;) children.push_back(child);
  return children;
}

// Most processes have none, which one call tells.
std::vector<pid_t> find_children() {
  std::vector<pid_t> children;
  siginfo_t nobody{};
  if (waitid(P_ALL, 0, &nobody, WEXITED | WNOHANG | WNOWAIT) != 0) return children;
  if (auto told = read_children()) return std::move(*told);
  ProcessListing listing;
  const pid_t self = getpid();
  while (const pid_t pid = listing.next()) {
    ProcessEntry entry;
    if (read_process(pid, entry) && entry.parent == self) children.push_back(pid);
  }
  return children;
}

ProcessListing::ProcessListing() : folder_(open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {}

ProcessListing::~ProcessListing() {
  if (is_open()) close(folder_);
}

pid_t ProcessListing::next() {
  while (is_open()) {
    if (position_ == size_) {
      const long count = syscall(SYS_getdents64, folder_, entries_, sizeof entries_);
      if (count <= 0) return 0;
      size_ = static_cast<std::size_t>(count);
      position_ = 0;
    }
    const char* entry = entries_ + position_;
    std::uint16_t size = 0;
    std::memcpy(&size, entry + offsetof(FolderEntry, size), sizeof size);
    position_ += size;
    const char* name = entry + offsetof(FolderEntry, name);
    pid_t pid = 0;
    const auto parsed = std::from_chars(name, name + std::strlen(name), pid);
    if (parsed.ec == std::errc() && *parsed.ptr == '\0' && pid > 0) return pid;
  }
  return 0;
}

ProcessTree::ProcessTree(pid_t root, std::span<const pid_t> strangers)
    : root_(root), strangers_(strangers), our_session_(getsid(0)) {
  // Only the pages that are written to become memory.
  void* memory = mmap(nullptr, kFoundBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  found_ = memory == MAP_FAILED ? nullptr : static_cast<pid_t*>(memory);
}

ProcessTree::~ProcessTree() {
  if (found_ != nullptr) munmap(found_, kFoundBytes);
}

bool ProcessTree::belongs(const ProcessEntry& entry) const {
  if (entry.parent == root_) {
    return std::find(strangers_.begin(), strangers_.end(), entry.pid) == strangers_.end();
  }
  return std::binary_search(found_, found_ + found_count_, entry.parent);
}

// Without the memory only the root's own children are found: killing goes on from parent to child.
void ProcessTree::add(pid_t pid) {
  if (found_ == nullptr || found_count_ == kProcessesMax) return;
  found_[found_count_++] = pid;
}

std::size_t ProcessTree::kill_all(pid_t command_group) {
  std::size_t alive = 0;
  killed_group_ = 0;
  walk([&](const ProcessEntry& entry) {
    if (entry.is_alive()) ++alive;
    kill_one(entry, command_group);
  });
  return alive;
}

void ProcessTree::kill_known(pid_t command_group) {
  killed_group_ = 0;
  for (std::size_t i = 0; i < found_count_; ++i) {
    ProcessEntry entry;
    if (read_process(found_[i], entry) && belongs(entry)) kill_one(entry, command_group);
  }
}

void ProcessTree::kill_one(const ProcessEntry& entry, pid_t command_group) {
  const bool is_all_ours = entry.group == command_group || entry.session != our_session_;
  if (!is_all_ours || entry.group <= 1) {
    kill(entry.pid, SIGKILL);
  } else if (entry.group != killed_group_) {
    killed_group_ = entry.group;
    kill(-entry.group, SIGKILL);
  }
}

}  // namespace redlock::coordinator
