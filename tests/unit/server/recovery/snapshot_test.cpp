#include "server/recovery/snapshot.h"

#include "base/token.h"
#include "server/locks/packed_hash.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::server;

namespace {

struct LockOfSnapshot {
  std::string key;
  std::string value;
  Instant deadline;
  std::uint64_t token = 0;
  LockKind kind = LockKind::text;
  std::string label = {};
  Instant since = {};

  friend bool operator==(const LockOfSnapshot&, const LockOfSnapshot&) = default;
};

const SnapshotHeader kHeader{
    std::string(40, 'a'), 7, {"boot\n", "monotonic 0 0\n", 3, 4}, Instant(100s)};

const std::vector<LockOfSnapshot> kLocks{{"printer", "alice", Instant(130s), 12},
                                         {"", "", Instant(101s), 0},
                                         {"scanner", "bob", Instant(129s), 14, LockKind::text,
                                          std::string(kLabelBytesMax, 'w'), Instant(99s)},
                                         {"eternal", std::string(3, '\0'), kNever, kTokenMax}};

const std::vector<SavedMark> kMarks{{3, 17, Instant(160s)}, {3, ~std::uint64_t{0}, kNever}};

std::string written(const SnapshotHeader& header, const std::vector<LockOfSnapshot>& locks,
                    const std::vector<SavedMark>& marks = {}) {
  std::string file;
  SnapshotWriter writer(header, [&](std::string_view bytes) -> Status {
    file += bytes;
    return Done{};
  });
  for (const LockOfSnapshot& lock : locks) {
    writer.add({lock.key, lock.value, lock.deadline, lock.token, lock.kind,
                LockLabel{lock.label, lock.since}});
  }
  for (const SavedMark& mark : marks) writer.add(mark);
  REQUIRE(writer.finish());
  return file;
}

SnapshotContent read(std::string_view file, std::vector<LockOfSnapshot>* locks = nullptr,
                     std::vector<SavedMark>* marks = nullptr) {
  std::size_t at = 0;
  const auto source = [&](char* to, std::size_t size) {
    const std::size_t count = std::min(size, file.size() - at);
    std::memcpy(to, file.data() + at, count);
    at += count;
    return count;
  };
  const auto keep = [&](const SavedLock& lock) {
    if (locks == nullptr) return;
    locks->push_back({std::string(lock.key), std::string(lock.value), lock.deadline, lock.token,
                      lock.kind, std::string(lock.label.text), lock.label.since});
  };
  return read_snapshot(source, keep, [&](const SavedMark& mark) {
    if (marks != nullptr) marks->push_back(mark);
  });
}

constexpr auto kReadable = SnapshotContent::State::readable;
constexpr auto kDamaged = SnapshotContent::State::damaged;

}  // namespace

TEST_CASE("a snapshot gives back every lock with its key, value, deadline and token") {
  std::vector<LockOfSnapshot> locks;
  const SnapshotContent content = read(written(kHeader, kLocks), &locks);
  CHECK(content.state == kReadable);
  CHECK(content.trouble.empty());
  CHECK(content.header.node_id == kHeader.node_id);
  CHECK(content.header.run == 7);
  CHECK(content.header.boot == kHeader.boot);
  CHECK(content.header.copied_at == Instant(100s));
  CHECK(content.locks == 4);
  CHECK(content.latest_deadline == Instant(130s));  // a key without a deadline is none
  CHECK(locks == kLocks);
}

TEST_CASE("a snapshot without locks is one") {
  const SnapshotContent content = read(written(kHeader, {}));
  CHECK(content.state == kReadable);
  CHECK(content.locks == 0);
  CHECK(content.latest_deadline == Instant());
}

TEST_CASE("a snapshot gives back the marks of releases, which are no locks (rule Q3)") {
  std::vector<LockOfSnapshot> locks;
  std::vector<SavedMark> marks;
  const SnapshotContent content = read(written(kHeader, kLocks, kMarks), &locks, &marks);
  CHECK(content.state == kReadable);
  CHECK(content.locks == 4);
  CHECK(content.latest_deadline == Instant(130s));  // nobody waits for the end of a mark
  CHECK(locks == kLocks);
  CHECK(marks == kMarks);
}

TEST_CASE("a snapshot that was written before there were marks is read as ever") {
  // Written by the program of version 1.0.0: a lock and a hash of a node of forty a, in run 7.
  std::string file("RLSNAPSH\1\0\0\0\50\0\0\0", 16);
  file += std::string(40, 'a') + std::string("\5\0\0\0boot\n\2\0\0\0m\n", 15);
  const auto number = [&file](std::uint64_t n) {
    for (int byte = 0; byte < 8; ++byte) file.push_back(static_cast<char>(n >> (8 * byte)));
  };
  for (const std::uint64_t n : {7u, 3u, 4u}) number(n);
  number(100'000'000'000);
  file += std::string("L\7\0\0\0\5\0\0\0", 9);
  number(130'000'000'000);
  number(12);
  file += "printeraliceE";
  number(1);
  number(checksum(file));
  std::vector<LockOfSnapshot> locks;
  const SnapshotContent content = read(file, &locks);
  CHECK(content.trouble.empty());
  CHECK(content.header.run == 7);
  CHECK(locks == std::vector<LockOfSnapshot>{kLocks[0]});
}

TEST_CASE("marks under different keys are damage") {
  const SnapshotContent content = read(written(kHeader, {}, {{3, 1, kNever}, {4, 1, kNever}}));
  CHECK(content.state == kDamaged);
  CHECK(content.trouble == "it holds marks of different keys");
}

TEST_CASE("every flipped bit of a snapshot makes it none (rule R9)") {
  std::string file = written(kHeader, kLocks, kMarks);
  for (std::size_t bit = 0; bit < file.size() * 8; ++bit) {
    const char whole = file[bit / 8];
    file[bit / 8] = static_cast<char>(whole ^ (1 << bit % 8));
    const SnapshotContent content = read(file);
    if (content.state != kDamaged || content.trouble.empty()) FAIL("bit " << bit);
    file[bit / 8] = whole;
  }
}

TEST_CASE("a snapshot cut anywhere is none, and so is one that goes on") {
  const std::string file = written(kHeader, kLocks, kMarks);
  for (std::size_t size = 0; size < file.size(); ++size) {
    if (read(file.substr(0, size)).state != kDamaged) FAIL("cut at " << size);
  }
  CHECK(read(file + "x").state == kDamaged);
  CHECK(read(file + file).state == kDamaged);
  CHECK(read(std::string(1000, '\0')).state == kDamaged);
}

TEST_CASE("the trouble of a snapshot is told in words") {
  std::string file = written(kHeader, kLocks);
  CHECK(read(file.substr(0, 60)).trouble == "it ends too early");
  CHECK(read("something else that lies there").trouble == "it is not a snapshot");
  std::string with_another = written(kHeader, {});
  with_another[with_another.size() - 17] = 'x';  // before a count and the checksum
  CHECK(read(with_another).trouble == "it holds something that is no lock and no mark");
  file[8] = 9;
  CHECK(read(file).trouble == "it has version 9, and this program reads 1");
}

TEST_CASE("many and large locks pass through in pieces") {
  std::vector<LockOfSnapshot> locks;
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    locks.push_back({std::to_string(i), "v", Instant(200s), i});
  }
  locks.push_back({"large", std::string(300'000, 'x'), Instant(150s), 1});
  std::vector<LockOfSnapshot> back;
  CHECK(read(written(kHeader, locks), &back).state == kReadable);
  CHECK(back == locks);
}

TEST_CASE("after the sink failed nothing more is written and finish says why") {
  int calls = 0;
  SnapshotWriter writer(kHeader, [&](std::string_view) -> Status {
    ++calls;
    return Failure{"disk full"};
  });
  const std::string value(100'000, 'x');
  for (int i = 0; i < 5; ++i) writer.add({"k", value, Instant(1s), 1});
  const Status status = writer.finish();
  CHECK_FALSE(status);
  CHECK(status.error().text == "disk full");
  CHECK(calls == 1);
}

TEST_CASE("a hash comes back as one, and bytes that are none are damage") {
  HashFields fields;
  fields.set("alice", "1");
  const std::vector<LockOfSnapshot> locks{
      {"text", "v", Instant(130s), 1}, {"hash", fields.pack(), Instant(140s), 2, LockKind::hash}};
  std::vector<LockOfSnapshot> back;
  CHECK(read(written(kHeader, locks), &back).state == kReadable);
  CHECK(back == locks);

  const std::vector<LockOfSnapshot> wrong{{"hash", "alice", Instant(140s), 2, LockKind::hash}};
  const SnapshotContent content = read(written(kHeader, wrong));
  CHECK(content.state == kDamaged);
  CHECK(content.trouble == "it holds a hash that is none");
}

TEST_CASE("a token that no node gives is damage (rule F1)") {
  std::vector<LockOfSnapshot> locks;
  const SnapshotContent content =
      read(written(kHeader, {{"printer", "alice", Instant(130s), kTokenMax + 1}}), &locks);
  CHECK(content.state == kDamaged);
  CHECK(content.trouble == "it holds a token that is none");
  CHECK(locks.empty());
}
