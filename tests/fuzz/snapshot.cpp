// A snapshot whose checksum and count are right: whatever stands in it, a start restores it or
// takes it for damaged, and a node with its locks answers.
//
// The input: the file up to its end mark.
#include "server/recovery/snapshot.h"

#include "base/byte_order.h"
#include "server/commands/families.h"
#include "server/recovery/checksum.h"
#include "server/recovery/recovery.h"
#include "tests/fuzz/target.h"
#include "tests/support/node_fixture.h"

#include <string>
#include <vector>

namespace redlock::fuzz {
namespace {

using namespace redlock::server;

constexpr std::size_t kKeysAskedMax = 16;

SnapshotContent read(std::string_view file, const SavedLockVisitor& visit,
                     const SavedMarkVisitor& visit_mark) {
  const auto source = [&file](char* to, std::size_t size) {
    const std::string_view taken = take(file, size);
    return taken.copy(to, size);
  };
  return read_snapshot(source, visit, visit_mark);
}

std::string mended(std::string_view body) {
  const auto content = read(
      body, [](const SavedLock&) {}, [](const SavedMark&) {});
  std::string file(body);
  file += 'E';
  append_little_endian(file, content.locks);
  append_little_endian(file, checksum(file));
  return file;
}

Decision decision_of(const SnapshotContent& snapshot) {
  Found found{.folder = "folder", .ledger = {}, .snapshot = snapshot, .boot = snapshot.header.boot};
  found.ledger.state = LedgerState::valid;
  found.ledger.record = {std::string(40, 'a'), snapshot.header.run, 60s, 1000, true};
  found.ledger.record.node_id = snapshot.header.node_id;
  const Instant start = later(snapshot.header.copied_at, 1s);
  return decide(found, Settings(), start, std::string(40, 'b'));
}

struct QuietLog final : LogSink {
  void log(LogLevel, std::string_view) override {}
};

void ask(Node& node, Now now, const std::vector<std::string>& keys) {
  TestClient client(node, now);
  for (const std::string& key : keys) {
    for (const char* command : {"PTTL", "GET", "HGETALL", "TYPE", "STRLEN", "HLEN"}) {
      client.send(std::vector<std::string>{command, key}, now);
      INVARIANT(client.receive() != "(none)", "a command without an answer");
    }
  }
}

void restore(std::string_view file, const Decision& decision, Instant start) {
  Settings settings;
  QuietLog log;
  const Now now{start, WallTime(0s)};
  Node node(all_families(), settings,
            node_start(decision, settings, start, std::string(40, 'c'), 1),
            {[] { return ProcessFacts{}; }, log});
  std::vector<std::string> keys;
  const auto visit = [&](const SavedLock& saved) {
    const auto lock = decision.restoration->restored(saved);
    if (!lock) return;
    node.grants().restore(*lock);
    if (keys.size() < kKeysAskedMax) keys.emplace_back(saved.key);
  };
  const auto visit_mark = [&](const SavedMark& saved) {
    const auto end = decision.restoration->deadline(saved.end);
    if (end) node.grants().restore({saved.hash_key, saved.hash, *end});
  };
  static_cast<void>(read(file, visit, visit_mark));
  node.begin_run(now);
  ask(node, now, keys);
  node.do_due_work({later(start, 1h), now.wall});
}

}  // namespace

void run(std::string_view input) {
  const std::string file = mended(input);
  const auto content = read(
      file, [](const SavedLock&) {}, [](const SavedMark&) {});
  if (content.state != SnapshotContent::State::readable) {
    INVARIANT(!content.trouble.empty(), "damage without a word");
    return;
  }
  const Decision decision = decision_of(content);
  const Instant start = later(content.header.copied_at, 1s);
  if (decision.restoration) restore(file, decision, start);
}

}  // namespace redlock::fuzz
