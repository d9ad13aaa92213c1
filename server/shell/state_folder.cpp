#include "server/shell/state_folder.h"

#include "base/invariant.h"
#include "server/locks/fence.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

namespace redlock::server {
namespace {

constexpr mode_t kFolderMode = 0700;
constexpr mode_t kFileMode = 0600;
constexpr std::size_t kPieceBytes = 64 * 1024;  // of a snapshot that is read

std::string folder_above(const std::string& folder) {
  const std::string above = std::filesystem::path(folder).lexically_normal().parent_path().string();
  return above.empty() ? "." : above;
}

Status make_folder(const std::string& folder) {
  if (mkdir(folder.c_str(), kFolderMode) == 0) return sync_folder(folder_above(folder));
  if (errno != EEXIST) return file_failure("make", folder, errno);
  return check_own_folder(folder);
}

BootIdentity read_boot_identity(LedgerFile::FileIdentity place) {
  return {.boot_id = read_proc("/proc/sys/kernel/random/boot_id"),
          .time_offsets = read_proc("/proc/self/timens_offsets"),
          .device = place.device,
          .inode = place.inode};
}

// A new file, whatever had its name. Removes what a stop that failed half-way would leave.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string path) : path_(std::move(path)) {
    unlink(path_.c_str());
    file_ = open_file(path_, O_WRONLY | O_CREAT | O_EXCL, kFileMode);
  }
  ~TemporaryFile() {
    if (!path_.empty()) unlink(path_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const FileDescriptor& file() const { return file_; }
  const std::string& path() const { return path_; }

  Status rename_to(const std::string& path) {
    if (std::rename(path_.c_str(), path.c_str()) < 0) return file_failure("write", path, errno);
    path_.clear();
    return Done{};
  }

 private:
  std::string path_;
  FileDescriptor file_;
};

}  // namespace

StateFolder::StateFolder(std::string folder, LedgerFile ledger, BootIdentity boot)
    : folder_(std::move(folder)), ledger_(std::move(ledger)), boot_(std::move(boot)) {}

Result<StateFolder> StateFolder::open(std::string folder) {
  if (auto made = make_folder(folder); !made) return made.error();
  auto ledger = LedgerFile::open(folder + "/ledger");
  if (!ledger) return ledger.error();
  BootIdentity boot = read_boot_identity(ledger.value().identity());
  return StateFolder(std::move(folder), std::move(ledger).value(), std::move(boot));
}

Result<Found> StateFolder::find() {
  auto ledger = ledger_.read();
  if (!ledger) return ledger.error();
  write_first_ = ledger.value().write_first;
  has_valid_ledger_ = ledger.value().state == LedgerState::valid;
  return Found{.folder = folder_,
               .ledger = std::move(ledger).value(),
               .snapshot = read_snapshot_file([](const SavedLock&) {}, [](const SavedMark&) {}),
               .boot = boot_};
}

SnapshotContent StateFolder::read_snapshot_file(const SavedLockVisitor& visit,
                                                const SavedMarkVisitor& visit_mark) const {
  const auto opened = open_own_file(snapshot_path(), O_RDONLY);
  if (!opened) {
    SnapshotContent content;
    content.state = SnapshotContent::State::damaged;
    content.trouble = opened.error().text;
    return content;
  }
  const FileDescriptor& file = opened.value();
  if (!file.is_open()) return {};
  int error = 0;
  // The reader asks for a few bytes at a time, and there may be hundreds of thousands of records.
  std::vector<char> piece(kPieceBytes);
  std::string_view rest;
  const auto source = [&](char* to, std::size_t size) -> std::size_t {
    if (rest.empty()) {
      const ssize_t count = read_some(file, piece.data(), piece.size());
      if (count < 0) error = errno;
      rest = {piece.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0))};
    }
    const std::size_t taken = rest.copy(to, size);
    rest.remove_prefix(taken);
    return taken;
  };
  SnapshotContent content = read_snapshot(source, visit, visit_mark);
  if (error != 0) content.trouble = file_failure("read", snapshot_path(), error).text;
  return content;
}

Status StateFolder::restore(const Decision& decision, const SavedLockVisitor& visit,
                            const SavedMarkVisitor& visit_mark) const {
  if (!decision.restoration) return Done{};
  const SnapshotContent content = read_snapshot_file(
      [&](const SavedLock& saved) {
        if (const auto lock = decision.restoration->restored(saved)) visit(*lock);
      },
      [&](const SavedMark& saved) {
        const auto end = decision.restoration->deadline(saved.end);
        if (end) visit_mark({saved.hash_key, saved.hash, *end});
      });
  if (content.state == SnapshotContent::State::readable) return Done{};
  return Failure{fmt::format("{} changed while it was read: {}; start again", snapshot_path(),
                             content.trouble)};
}

Status StateFolder::begin_run(const Decision& decision) {
  if (auto durable = make_durable(); !durable) return durable;
  // A snapshot that is used was written by a run whose record both copies held durably, and nobody
  // has written the ledger since: else its run would be larger than the snapshot's.
  const auto on_disk =
      decision.restoration ? LedgerWriter::OnDisk::certain : LedgerWriter::OnDisk::doubtful;
  writer_.emplace(ledger_, write_first_, on_disk);
  auto begun = redlock::server::begin_run(decision, boot_, ledger_, *writer_,
                                          [this] { return discard_snapshot(); });
  if (begun) running_ = decision;
  return begun;
}

// The ledger in full, and its name in the folder: also after a start that ended between the two. A
// ledger with a valid copy has its name there already, as no copy is written before this is done.
Status StateFolder::make_durable() {
  if (auto filled = ledger_.fill(); !filled) return filled;
  return has_valid_ledger_ ? Status(Done{}) : sync_folder(folder_);
}

Status StateFolder::discard_snapshot() const {
  if (unlink(snapshot_path().c_str()) < 0) {
    if (errno == ENOENT) return Done{};
    return file_failure("remove", snapshot_path(), errno);
  }
  return sync_folder(folder_);
}

Status StateFolder::write_snapshot(Instant copied_at, const SaveAll& save_all) const {
  INVARIANT(running_.has_value(), "a snapshot names the run that begin_run made durable");
  INVARIANT(copied_at >= running_->snapshot_from, "no snapshot within the delay (rule R3)");
  TemporaryFile temporary(snapshot_path() + ".tmp");
  if (!temporary.file().is_open()) return file_failure("make", temporary.path(), errno);
  off_t written = 0;
  const auto sink = [&](std::string_view bytes) {
    Status status = write_at(temporary.file(), temporary.path(), bytes, written);
    written += static_cast<off_t>(bytes.size());
    return status;
  };
  const DurableRecord& record = running_->record;
  SnapshotWriter writer({record.node_id, record.run, boot_, copied_at}, sink);
  save_all(writer);
  if (auto finished = writer.finish(); !finished) return finished;
  if (auto synced = sync_file(temporary.file(), temporary.path()); !synced) return synced;
  if (auto renamed = temporary.rename_to(snapshot_path()); !renamed) return renamed;
  return sync_folder(folder_);
}

Status bootstrap(const std::string& folder, std::string_view node_id, std::uint64_t floor,
                 WhereLedgerIs where_ledger_is) {
  if (floor > kTokenMax) {
    return Failure{fmt::format("--bootstrap {}: a floor is at most {}", floor, kTokenMax)};
  }
  auto opened = StateFolder::open(folder);
  if (!opened) return opened.error();
  StateFolder& state = opened.value();
  auto found = state.find();
  if (!found) return found.error();
  const LedgerState ledger = found.value().ledger.state;
  if (ledger != LedgerState::missing && ledger != LedgerState::unfinished) {
    if (where_ledger_is == WhereLedgerIs::leave_it) return Done{};
    return Failure{
        fmt::format("{} has a ledger: --bootstrap is for a node that never ran. To make a new "
                    "installation of it, "
                    "in which no lock can be live, stop its node and remove the folder first",
                    folder)};
  }
  if (auto discarded = state.discard_snapshot(); !discarded) return discarded;
  if (auto durable = state.make_durable(); !durable) return durable;
  LedgerWriter writer(state.ledger_, state.write_first_);
  return writer.write({.node_id = std::string(node_id),
                       .run = 0,
                       .largest_ttl = 0ns,
                       .fencing_bound = floor,
                       .fenced = true});
}

}  // namespace redlock::server
