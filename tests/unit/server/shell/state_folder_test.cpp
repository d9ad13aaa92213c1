// The state folder on a real disk, in a folder of its own that goes with the test.
#include "server/shell/state_folder.h"

#include "server/locks/fence.h"
#include "tests/unit/server/recovery/support.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::server;
using Catch::Contains;
namespace fs = std::filesystem;

namespace {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (fs::temp_directory_path() / "redlock-state-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~TemporaryFolder() { fs::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string operator/(const char* name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

struct Lock {
  std::string key;
  std::string value;
  Instant deadline;
  std::uint64_t token = 0;

  friend bool operator==(const Lock&, const Lock&) = default;
};

// A process on a state folder, at an instant of its choice.
class Process {
 public:
  explicit Process(const std::string& dir, Instant start = Instant(1000s),
                   const Settings& settings = {})
      : folder_(StateFolder::open(dir)) {
    REQUIRE(folder_);
    auto found = folder_.value().find();
    REQUIRE(found);
    decision = decide(found.value(), settings, start, kFreshNode);
    const auto keep = [&](const SavedLock& lock) {
      restored.push_back(
          {std::string(lock.key), std::string(lock.value), lock.deadline, lock.token});
    };
    REQUIRE(folder_.value().restore(decision, keep,
                                    [&](const SavedMark& mark) { marks.push_back(mark); }));
    REQUIRE(folder_.value().begin_run(decision));
  }

  Status stop(Instant at, const std::vector<Lock>& locks,
              const std::vector<SavedMark>& released = {}) {
    for (const Lock& lock : locks) {
      if (lock.deadline == kNever) continue;
      REQUIRE(folder_.value().latest_deadline_page().write_latest_deadline(lock.deadline));
    }
    return folder_.value().write_snapshot(at, [&](SnapshotWriter& snapshot) {
      for (const Lock& lock : locks)
        snapshot.add({lock.key, lock.value, lock.deadline, lock.token});
      for (const SavedMark& mark : released) snapshot.add(mark);
    });
  }

  Decision decision;
  std::vector<Lock> restored;
  std::vector<SavedMark> marks;

 private:
  Result<StateFolder> folder_;
};

std::string content_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

// The durable part alone: the copies, without the page before them.
std::string copies_of(const std::string& path) {
  return content_of(path).substr(ledger_copy_offset(0));
}
std::string both_copies(const DurableRecord& record) {
  return ledger_bytes(record, record).substr(ledger_copy_offset(0));
}

void write_file(const std::string& path, std::string_view content) {
  std::ofstream(path, std::ios::binary)
      .write(content.data(), static_cast<std::streamsize>(content.size()));
}

mode_t mode_of(const std::string& path) {
  struct stat status {};
  REQUIRE(stat(path.c_str(), &status) == 0);
  return status.st_mode & 07777;
}

}  // namespace

TEST_CASE("the first start makes folder and ledger, for their owner alone") {
  const TemporaryFolder temporary;
  const std::string dir = temporary / "node";
  Process process(dir);
  CHECK(process.decision.cause == RestartCause::ledger_missing);
  CHECK(mode_of(dir) == 0700);
  CHECK(mode_of(dir + "/ledger") == 0600);
  CHECK(copies_of(dir + "/ledger") == both_copies(process.decision.record));
}

TEST_CASE("a node that is started again without a stop waits") {
  const TemporaryFolder temporary;
  const std::string dir = temporary / "node";
  { Process first(dir); }
  const Process second(dir);
  CHECK(second.decision.cause == RestartCause::crash);
  CHECK(second.decision.record.run == 2);
  CHECK(second.decision.record.node_id == kFreshNode);
}

TEST_CASE("a clean stop loses nothing, and its snapshot serves once (rule R9)") {
  const TemporaryFolder temporary;
  const std::string dir = temporary / "node";
  const std::vector<Lock> locks{{"printer", "alice", Instant(1120s), 5},
                                {"short", "bob", Instant(1101s), 6},
                                {"eternal", "carol", kNever, 7}};
  {
    Process first(dir);
    REQUIRE(first.stop(Instant(1100s), locks));
    CHECK(mode_of(dir + "/snapshot") == 0600);
    CHECK_FALSE(fs::exists(dir + "/snapshot.tmp"));
  }
  {
    const Process second(dir, Instant(1101s));
    CHECK(second.decision.cause == RestartCause::clean_stop);
    CHECK(second.decision.restoration->same_boot);
    CHECK(second.restored == std::vector<Lock>{locks[0], locks[2]});
    CHECK_FALSE(fs::exists(dir + "/snapshot"));
  }
  const Process third(dir, Instant(1102s));
  CHECK(third.decision.cause == RestartCause::crash);
  CHECK(third.restored.empty());
}

TEST_CASE("marks of releases come back with their ends, those that are over do not (rule Q3)") {
  const TemporaryFolder temporary;
  const std::string dir = temporary / "node";
  const std::vector<SavedMark> marks{{3, 1, Instant(1101s)}, {3, 2, Instant(1130s)}};
  {
    Process first(dir);
    REQUIRE(first.stop(Instant(1100s), {}, marks));
  }
  const Process second(dir, Instant(1101s));
  CHECK(second.marks == std::vector<SavedMark>{marks[1]});
  CHECK(second.decision.latest_deadline == Instant(1101s));  // nobody waits for them
}

TEST_CASE("a ledger that was copied is another boot's (rule R6)") {
  const TemporaryFolder temporary;
  {
    Process first(temporary / "node");
    REQUIRE(first.stop(Instant(1100s), {{"printer", "alice", Instant(1120s), 5}}));
  }
  fs::copy(temporary / "node", temporary / "copy", fs::copy_options::recursive);
  const Process copied(temporary / "copy", Instant(1110s));
  CHECK(copied.decision.cause == RestartCause::clean_stop);
  CHECK_FALSE(copied.decision.restoration->same_boot);
  CHECK(copied.restored[0].deadline == Instant(1130s));
}

TEST_CASE("a damaged snapshot is none, and is removed") {
  const TemporaryFolder temporary;
  const std::string dir = temporary / "node";
  {
    Process first(dir);
    REQUIRE(first.stop(Instant(1100s), {{"printer", "alice", Instant(1120s), 5}}));
  }
  std::string snapshot = content_of(dir + "/snapshot");
  snapshot[snapshot.size() / 2] ^= 1;
  write_file(dir + "/snapshot", snapshot);
  const Process second(dir, Instant(1101s));
  CHECK(second.decision.cause == RestartCause::crash);
  CHECK(second.decision.delay == 19s);
  CHECK_FALSE(fs::exists(dir + "/snapshot"));
}

TEST_CASE("what a stop that was cut short left is not taken for a snapshot") {
  const TemporaryFolder temporary;
  const std::string dir = temporary / "node";
  {
    Process first(dir);
    REQUIRE(first.stop(Instant(1100s), {}));
  }
  fs::rename(dir + "/snapshot", dir + "/snapshot.tmp");
  Process second(dir, Instant(1101s));
  CHECK(second.decision.cause == RestartCause::crash);
  CHECK(second.stop(Instant(2000s), {}));
  CHECK(fs::exists(dir + "/snapshot"));
}

TEST_CASE("a snapshot that cannot be written is told, and none is left (rule R9)") {
  const TemporaryFolder temporary;
  const std::string dir = temporary / "node";
  Process process(dir);
  fs::create_directories(dir + "/snapshot/in-the-way");
  const Status status = process.stop(Instant(2000s), {});
  REQUIRE_FALSE(status);
  CHECK_THAT(status.error().text, Contains(dir + "/snapshot"));
  CHECK_FALSE(fs::exists(dir + "/snapshot.tmp"));
}

TEST_CASE("a ledger serves one process at a time, and a second is told which (rule R2)") {
  const TemporaryFolder temporary;
  const std::string dir = temporary / "node";
  const Process first(dir);
  const auto second = StateFolder::open(dir);
  REQUIRE_FALSE(second);
  CHECK_THAT(second.error().text, Contains(dir + "/ledger is in use by"));
  const Status bootstrapped = bootstrap(dir, kNodeA, 0);
  CHECK_THAT(bootstrapped.error().text, Contains("is in use by"));
}

TEST_CASE("/proc/locks tells who holds a ledger") {
  const std::string locks =
      "1: POSIX  ADVISORY  WRITE 11 fd:01:1835 0 EOF\n"
      "2: FLOCK  ADVISORY  WRITE 4711 fd:01:1835 0 EOF\n"
      "3: FLOCK  ADVISORY  WRITE 12 fd:01:18356 0 EOF";
  constexpr std::uint64_t kDevice = 0xfd01;
  CHECK(lock_holder(locks, {kDevice, 1835}) == 4711);
  CHECK(lock_holder(locks, {kDevice, 18356}) == 12);
  CHECK(lock_holder(locks, {kDevice, 835}) == 0);
  CHECK(lock_holder("", {kDevice, 1835}) == 0);
}

TEST_CASE("--bootstrap makes a ledger whose first start does not wait (rule R1)") {
  const TemporaryFolder temporary;
  const std::string dir = temporary / "node";
  REQUIRE(bootstrap(dir, kNodeA, 123));
  const DurableRecord made{kNodeA, 0, 0ns, 123, true};
  CHECK(content_of(dir + "/ledger") == ledger_bytes(made, made));
  {
    const Process first(dir);
    CHECK(first.decision.cause == RestartCause::bootstrapped);
    CHECK(first.decision.delay == 0ns);
    CHECK(first.decision.record ==
          DurableRecord{kNodeA, 1, 0ns, 123 + Settings().fence_block, true});
  }
  CHECK(Process(dir).decision.cause == RestartCause::crash);
}

TEST_CASE("--bootstrap is refused where a ledger is, whatever stands in it (rule R1)") {
  const TemporaryFolder temporary;
  const std::string dir = temporary / "node";
  SECTION("a node's") {
    Process process(dir);
  }
  SECTION("a bootstrapped one") {
    REQUIRE(bootstrap(dir, kNodeA, 0));
  }
  SECTION("a damaged one") {
    fs::create_directory(dir);
    write_file(dir + "/ledger", "damaged");
  }
  const std::string before = content_of(dir + "/ledger");
  const Status status = bootstrap(dir, kNodeB, 0);
  REQUIRE_FALSE(status);
  CHECK_THAT(status.error().text, Contains(dir + " has a ledger"));
  CHECK(content_of(dir + "/ledger") == before);
}

TEST_CASE("--bootstrap goes on where a start or another --bootstrap wrote nothing yet") {
  const TemporaryFolder temporary;
  const std::string dir = temporary / "node";
  fs::create_directory(dir);
  write_file(dir + "/ledger", std::string(100, '\0'));
  write_file(dir + "/snapshot", "of another life");
  CHECK(bootstrap(dir, kNodeA, 0));
  CHECK_FALSE(fs::exists(dir + "/snapshot"));
  CHECK(Process(dir).decision.cause == RestartCause::bootstrapped);
}

TEST_CASE("a floor that no token can reach is refused") {
  const TemporaryFolder temporary;
  CHECK_FALSE(bootstrap(temporary / "node", kNodeA, kTokenMax + 1));
  CHECK_FALSE(fs::exists(temporary / "node"));
  CHECK(bootstrap(temporary / "node", kNodeA, kTokenMax));
}

TEST_CASE("a ledger that was cut short is whole again after a start") {
  const TemporaryFolder temporary;
  const std::string dir = temporary / "node";
  { Process first(dir); }
  fs::resize_file(dir + "/ledger", ledger_copy_offset(1) + 5);
  const Process second(dir);
  CHECK(second.decision.cause == RestartCause::crash);
  CHECK(copies_of(dir + "/ledger") == both_copies(second.decision.record));
}

TEST_CASE("a folder that cannot be made or used is told with its path and what to do") {
  const TemporaryFolder temporary;
  const auto no_parent = StateFolder::open(temporary / "a/b");
  CHECK_THAT(no_parent.error().text,
             Contains("a/b: No such file or directory") && Contains("--dir"));
  write_file(temporary / "file", "x");
  CHECK_THAT(StateFolder::open(temporary / "file").error().text, Contains("Not a directory"));
  fs::create_directories(temporary / "node/ledger");
  CHECK_THAT(StateFolder::open(temporary / "node").error().text, Contains("Is a directory"));
}

TEST_CASE("a read-only folder is told with its path and what to do") {
  if (geteuid() == 0) return;  // to whom no folder is read-only
  const TemporaryFolder temporary;
  fs::create_directory(temporary / "node");
  fs::permissions(temporary / "node", fs::perms::owner_read | fs::perms::owner_exec);
  CHECK_THAT(StateFolder::open(temporary / "node").error().text,
             Contains("node/ledger: Permission denied") && Contains("--dir"));
}

TEST_CASE("a folder, or a file in it, in which others have a hand is refused with what to do") {
  const TemporaryFolder temporary;
  const std::string dir = temporary / "node";
  { Process first(dir); }
  SECTION("everybody may write the folder") {
    fs::permissions(dir, fs::perms::all);
    CHECK_THAT(StateFolder::open(dir).error().text, Contains(dir) && Contains("chmod o-w"));
  }
  SECTION("everybody may write the ledger") {
    fs::permissions(dir + "/ledger", fs::perms::others_write, fs::perm_options::add);
    CHECK_THAT(StateFolder::open(dir).error().text,
               Contains(dir + "/ledger") && Contains("chmod o-w"));
  }
  SECTION("another user's folder") {
    if (geteuid() != 0) return;  // who alone can give it away
    REQUIRE(chown(dir.c_str(), 12345, 12345) == 0);
    CHECK_THAT(StateFolder::open(dir).error().text, Contains("belongs to user 12345"));
  }
  SECTION("another user's ledger") {
    if (geteuid() != 0) return;
    REQUIRE(chown((dir + "/ledger").c_str(), 12345, 12345) == 0);
    CHECK_THAT(StateFolder::open(dir).error().text, Contains("belongs to user 12345"));
  }
  SECTION("a ledger that is a link") {
    fs::rename(dir + "/ledger", temporary / "elsewhere");
    fs::create_symlink(temporary / "elsewhere", dir + "/ledger");
    CHECK_THAT(StateFolder::open(dir).error().text, Contains("symbolic link"));
  }
  SECTION("a ledger that is a link to nothing") {
    fs::remove(dir + "/ledger");
    fs::create_symlink(temporary / "elsewhere", dir + "/ledger");
    CHECK_THAT(StateFolder::open(dir).error().text, Contains("symbolic link"));
    CHECK_FALSE(fs::exists(temporary / "elsewhere"));
  }
  SECTION("a ledger that is a pipe") {
    fs::remove(dir + "/ledger");
    REQUIRE(mkfifo((dir + "/ledger").c_str(), 0600) == 0);
    CHECK_THAT(StateFolder::open(dir).error().text, Contains("no regular file"));
  }
}

TEST_CASE("the folder itself may be a link, as service managers make them") {
  const TemporaryFolder temporary;
  { Process first(temporary / "node"); }
  fs::create_directory_symlink(temporary / "node", temporary / "link");
  CHECK(Process(temporary / "link").decision.cause == RestartCause::crash);
}

TEST_CASE("a snapshot that is no file of this node's is none, and holds nobody up") {
  const TemporaryFolder temporary;
  const std::string dir = temporary / "node";
  {
    Process first(dir);
    REQUIRE(first.stop(Instant(1100s), {{"printer", "alice", Instant(1120s), 5}}));
  }
  SECTION("a link") {
    fs::rename(dir + "/snapshot", temporary / "elsewhere");
    fs::create_symlink(temporary / "elsewhere", dir + "/snapshot");
  }
  SECTION("a pipe that nobody writes") {
    fs::remove(dir + "/snapshot");
    REQUIRE(mkfifo((dir + "/snapshot").c_str(), 0600) == 0);
  }
  const Process second(dir, Instant(1101s));
  CHECK(second.decision.cause == RestartCause::crash);
  CHECK(second.restored.empty());
}

TEST_CASE("a snapshot is written into a file of its own, whatever has its name") {
  const TemporaryFolder temporary;
  const std::string dir = temporary / "node";
  Process process(dir);
  write_file(temporary / "precious", "precious");
  fs::create_symlink(temporary / "precious", dir + "/snapshot.tmp");
  CHECK(process.stop(Instant(2000s), {}));
  CHECK(content_of(temporary / "precious") == "precious");
  CHECK(fs::is_regular_file(fs::symlink_status(dir + "/snapshot")));
}

TEST_CASE("a ledger that is taken away counts as a disk that fails, until it is back (rule R2)") {
  const TemporaryFolder temporary;
  const std::string dir = temporary / "node";
  auto folder = StateFolder::open(dir);
  REQUIRE(folder);
  auto found = folder.value().find();
  REQUIRE(found);
  const Decision decision = decide(found.value(), Settings(), Instant(1000s), kFreshNode);
  REQUIRE(folder.value().begin_run(decision));
  const auto write = [&] {
    return folder.value().latest_deadline_page().write_latest_deadline(Instant(1100s));
  };
  REQUIRE(write());
  fs::rename(dir + "/ledger", dir + "/away");
  SECTION("removed") {
    CHECK_THAT(write().error().text, Contains(dir + "/ledger was removed"));
  }
  SECTION("replaced") {
    fs::copy(dir + "/away", dir + "/ledger");
    CHECK_THAT(write().error().text, Contains(dir + "/ledger was replaced"));
  }
  CHECK_FALSE(folder.value().write_record(decision.record));
  fs::rename(dir + "/away", dir + "/ledger");
  CHECK(write());
  CHECK(folder.value().write_record(decision.record));
}

TEST_CASE("the boot is told, so that a restart in the same boot keeps exact deadlines (rule R6)") {
  const TemporaryFolder temporary;
  const auto folder = StateFolder::open(temporary / "node");
  REQUIRE(folder);
  CHECK(folder.value().boot().boot_id.size() == 37);
  CHECK(folder.value().boot().inode != 0);
}
