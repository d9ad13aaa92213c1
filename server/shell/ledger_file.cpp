#include "server/shell/ledger_file.h"

#include "base/text/words.h"

#include <cerrno>
#include <charconv>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <fmt/format.h>

namespace redlock::server {
namespace {

std::string holder_text(LedgerFile::FileIdentity identity) {
  const std::int64_t pid = lock_holder(read_proc("/proc/locks"), identity);
  if (pid <= 0) return "another process";
  std::string name = read_proc(fmt::format("/proc/{}/comm", pid).c_str());
  while (!name.empty() && name.back() == '\n') name.pop_back();
  return fmt::format("process {}{}", pid, name.empty() ? "" : fmt::format(" ({})", name));
}

}  // namespace

// A line: "12: FLOCK  ADVISORY  WRITE 4711 fd:01:1835 0 EOF"; the device's halves are hexadecimal.
std::int64_t lock_holder(std::string_view proc_locks, LedgerFile::FileIdentity identity) {
  const std::string file = fmt::format(" {:02x}:{:02x}:{} ", major(identity.device),
                                       minor(identity.device), identity.inode);
  while (!proc_locks.empty()) {
    const std::string_view line = take_line(proc_locks);
    const std::size_t end = line.find(file);
    if (end == std::string_view::npos || line.find("FLOCK") == std::string_view::npos) continue;
    const std::size_t begin = line.rfind(' ', end - 1) + 1;
    std::int64_t pid = 0;
    std::from_chars(line.data() + begin, line.data() + end, pid);
    return pid;
  }
  return 0;
}

Result<LedgerFile> LedgerFile::open(std::string path) {
  constexpr mode_t kOwnerOnly = 0600;
  auto file = open_own_file(path, O_RDWR);
  const bool is_new = file && !file.value().is_open();
  if (is_new) file = open_own_file(path, O_RDWR | O_CREAT, kOwnerOnly);
  if (!file) return file.error();
  LedgerFile ledger(std::move(path), std::move(file).value(), is_new);
  if (auto locked = ledger.lock(); !locked) return locked.error();
  return ledger;
}

Status LedgerFile::lock() {
  if (flock(file_.raw(), LOCK_EX | LOCK_NB) < 0) {
    if (errno != EWOULDBLOCK) return file_failure("lock", path_, errno);
    return Failure{fmt::format(
        "{} is in use by {}: a folder serves one node at a time; stop that one, or name another "
        "folder with --dir",
        path_, holder_text(identity()))};
  }
  identity_ = identity();
  return check_identity();
}

// The next start finds what has the ledger's name, so that alone is worth writing.
Status LedgerFile::check_identity() const {
  struct stat named {};
  const bool is_there = stat(path_.c_str(), &named) == 0;
  if (is_there && named.st_dev == identity_.device && named.st_ino == identity_.inode)
    return Done{};
  if (!is_there && errno != ENOENT) return file_failure("find", path_, errno);
  return Failure{
      fmt::format("{} was {} while this node has it open, so that the next start would "
                  "not know what it tells: put that very file back, or stop this node "
                  "and start it again",
                  path_, is_there ? "replaced" : "removed or renamed")};
}

Result<LedgerContent> LedgerFile::read() const {
  auto bytes = read_beginning(file_, path_, kLedgerBytes);
  if (!bytes) return bytes.error();
  LedgerContent content = decode_ledger(bytes.value());
  if (is_new_) content.state = LedgerState::missing;
  return content;
}

Status LedgerFile::fill() {
  struct stat status {};
  if (fstat(file_.raw(), &status) < 0) return file_failure("read", path_, errno);
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size >= kLedgerBytes) return Done{};
  const std::string zeros(kLedgerBytes - size, '\0');
  if (auto written = write_at(file_, path_, zeros, status.st_size); !written) return written;
  return sync_file(file_, path_);
}

Status LedgerFile::write_latest_deadline(Instant latest_deadline) {
  if (auto there = check_identity(); !there) return there;
  const auto bytes = encode_latest_deadline(latest_deadline);
  return write_at(file_, path_, std::string_view(bytes.data(), bytes.size()), 0);
}

Status LedgerFile::write_boot(const BootIdentity& boot) {
  return write_at(file_, path_, encode_boot(boot), kBootAt);
}

Status LedgerFile::write_copy(std::size_t copy, const LedgerPage& page) {
  if (auto there = check_identity(); !there) return there;
  return write_at(file_, path_, std::string_view(page.data(), page.size()),
                  static_cast<off_t>(ledger_copy_offset(copy)));
}

Status LedgerFile::sync() {
  return sync_file_data(file_, path_);
}

LedgerFile::FileIdentity LedgerFile::identity() const {
  struct stat status {};
  if (fstat(file_.raw(), &status) < 0) return {};
  return {status.st_dev, status.st_ino};
}

}  // namespace redlock::server
