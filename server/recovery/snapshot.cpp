#include "server/recovery/snapshot.h"

#include "base/byte_order.h"
#include "base/invariant.h"
#include "base/token.h"
#include "server/locks/packed_hash.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace redlock::server {
namespace {

constexpr std::string_view kSnapshotMagic = "RLSNAPSH";
constexpr char kLockMark = 'L';
constexpr char kHashMark = 'H';
constexpr char kLabelMark = 'N';
constexpr char kReleaseMark = 'M';
constexpr char kEndMark = 'E';
constexpr std::size_t kLockFixedBytes = 4 + 4 + 8 + 8;
constexpr std::size_t kReleaseBytes = 8 + 8 + 8;
constexpr std::size_t kPieceBytes = 64 * 1024;
constexpr std::uint32_t kHeaderTextBytesMax = 64 * 1024;

void append_text(std::string& out, std::string_view text) {
  INVARIANT(text.size() <= std::numeric_limits<std::uint32_t>::max(), "a text of 4 GB and more");
  append_little_endian(out, static_cast<std::uint32_t>(text.size()));
  out += text;
}

void append_instant(std::string& out, Instant instant) {
  INVARIANT(instant >= Instant(), "an instant before the clock's first");
  append_little_endian(out, static_cast<std::uint64_t>(instant.time_since_epoch().count()));
}

// Reads fields one after the other. After the first thing that is wrong, everything reads as zero
// or empty and trouble() names what it was, so that callers check once, where it matters.
class Reader {
 public:
  explicit Reader(const ByteSource& source) : source_(source) {}

  bool ok() const { return trouble_.empty(); }
  const std::string& trouble() const { return trouble_; }
  std::uint64_t checksum() const { return checksum_.value(); }

  void fail(std::string trouble) {
    if (ok()) trouble_ = std::move(trouble);
  }

  // The next `size` bytes; the view lives until the next read. Memory grows with the bytes that are
  // there, whatever a damaged length claims.
  std::string_view bytes(std::size_t size) {
    piece_.clear();
    while (ok() && piece_.size() < size) {
      const std::size_t before = piece_.size();
      const std::size_t wanted = std::min(size - before, kPieceBytes);
      piece_.resize(before + wanted);
      if (source_(piece_.data() + before, wanted) != wanted) fail("it ends too early");
    }
    if (!ok()) return {};
    checksum_.add(piece_);
    return piece_;
  }

  template <class Unsigned>
  Unsigned number() {
    const std::string_view read = bytes(sizeof(Unsigned));
    return ok() ? read_little_endian<Unsigned>(read, 0) : Unsigned{0};
  }

  Instant instant() { return to_instant(number<std::uint64_t>()); }

  Instant to_instant(std::uint64_t nanoseconds) {
    if (nanoseconds > std::numeric_limits<std::int64_t>::max()) {
      fail("it holds an instant that no clock shows");
      return {};
    }
    return Instant(Duration(static_cast<std::int64_t>(nanoseconds)));
  }

  std::string header_text() {
    const auto size = number<std::uint32_t>();
    if (size > kHeaderTextBytesMax) fail("its header makes no sense");
    return std::string(bytes(ok() ? size : 0));
  }

 private:
  const ByteSource& source_;
  std::string piece_;
  Checksum checksum_;
  std::string trouble_;
};

SnapshotHeader read_header(Reader& reader) {
  if (reader.bytes(kSnapshotMagic.size()) != kSnapshotMagic) reader.fail("it is not a snapshot");
  const auto version = reader.number<std::uint32_t>();
  if (reader.ok() && version != kSnapshotVersion) {
    reader.fail(
        fmt::format("it has version {}, and this program reads {}", version, kSnapshotVersion));
  }
  SnapshotHeader header;
  header.node_id = reader.header_text();
  header.boot.boot_id = reader.header_text();
  header.boot.time_offsets = reader.header_text();
  header.run = reader.number<std::uint64_t>();
  header.boot.device = reader.number<std::uint64_t>();
  header.boot.inode = reader.number<std::uint64_t>();
  header.copied_at = reader.instant();
  return header;
}

// A label, of the lock behind it.
struct ReadLabel {
  std::string text;
  Instant since{};

  LockLabel view() const { return {text, since}; }
};

ReadLabel read_label(Reader& reader) {
  const std::size_t size = reader.number<std::uint8_t>();
  ReadLabel label{{}, reader.instant()};
  if (reader.ok() && (size == 0 || size > kLabelBytesMax)) reader.fail("it holds no such label");
  label.text = reader.bytes(reader.ok() ? size : 0);
  return label;
}

void read_lock(Reader& reader, LockKind kind, const ReadLabel& label, SnapshotContent& content,
               const SavedLockVisitor& visit) {
  const std::string_view fixed = reader.bytes(kLockFixedBytes);
  if (!reader.ok()) return;
  const std::size_t key_bytes = read_little_endian<std::uint32_t>(fixed, 0);
  const std::size_t value_bytes = read_little_endian<std::uint32_t>(fixed, 4);
  const Instant deadline = reader.to_instant(read_little_endian<std::uint64_t>(fixed, 8));
  const auto token = read_little_endian<std::uint64_t>(fixed, 16);
  const std::string_view texts = reader.bytes(key_bytes + value_bytes);
  if (!reader.ok()) return;
  const std::string_view value = texts.substr(key_bytes);
  if (kind == LockKind::hash && !is_packed_hash(value)) {
    reader.fail("it holds a hash that is none");
    return;
  }
  if (token > kTokenMax) {
    reader.fail("it holds a token that is none");
    return;
  }
  visit({texts.substr(0, key_bytes), value, deadline, token, kind, label.view()});
  ++content.locks;
  if (deadline != kNever) content.latest_deadline = std::max(content.latest_deadline, deadline);
}

void read_mark(Reader& reader, std::optional<std::uint64_t>& hash_key,
               const SavedMarkVisitor& visit) {
  const std::string_view fixed = reader.bytes(kReleaseBytes);
  if (!reader.ok()) return;
  const SavedMark mark{read_little_endian<std::uint64_t>(fixed, 0),
                       read_little_endian<std::uint64_t>(fixed, 8),
                       reader.to_instant(read_little_endian<std::uint64_t>(fixed, 16))};
  if (mark.hash_key != hash_key.value_or(mark.hash_key)) {
    reader.fail("it holds marks of different keys");
  }
  hash_key = mark.hash_key;
  if (reader.ok()) visit(mark);
}

void read_end(Reader& reader, const SnapshotContent& content, const ByteSource& source) {
  if (reader.number<std::uint64_t>() != content.locks) reader.fail("locks are missing from it");
  const std::uint64_t expected = reader.checksum();
  if (reader.number<std::uint64_t>() != expected) reader.fail("its checksum is wrong");
  char beyond = 0;
  if (source(&beyond, 1) != 0) reader.fail("it goes on after its end");
}

}  // namespace

SnapshotWriter::SnapshotWriter(const SnapshotHeader& header, Sink sink) : sink_(std::move(sink)) {
  buffer_ += kSnapshotMagic;
  append_little_endian(buffer_, kSnapshotVersion);
  append_text(buffer_, header.node_id);
  append_text(buffer_, header.boot.boot_id);
  append_text(buffer_, header.boot.time_offsets);
  append_little_endian(buffer_, header.run);
  append_little_endian(buffer_, header.boot.device);
  append_little_endian(buffer_, header.boot.inode);
  append_instant(buffer_, header.copied_at);
}

void SnapshotWriter::add(const SavedLock& lock) {
  constexpr std::size_t kTextBytesMax = std::numeric_limits<std::uint32_t>::max();
  INVARIANT(lock.key.size() <= kTextBytesMax && lock.value.size() <= kTextBytesMax,
            "a key or value of 4 GB and more");
  if (!lock.label.text.empty()) {
    buffer_ += kLabelMark;
    buffer_ += static_cast<char>(lock.label.text.size());
    append_instant(buffer_, lock.label.since);
    buffer_ += lock.label.text;
  }
  buffer_ += lock.kind == LockKind::hash ? kHashMark : kLockMark;
  append_little_endian(buffer_, static_cast<std::uint32_t>(lock.key.size()));
  append_little_endian(buffer_, static_cast<std::uint32_t>(lock.value.size()));
  append_instant(buffer_, lock.deadline);
  append_little_endian(buffer_, lock.token);
  buffer_ += lock.key;
  buffer_ += lock.value;
  ++locks_;
  if (buffer_.size() >= kPieceBytes) flush();
}

void SnapshotWriter::add(const SavedMark& mark) {
  buffer_ += kReleaseMark;
  append_little_endian(buffer_, mark.hash_key);
  append_little_endian(buffer_, mark.hash);
  append_instant(buffer_, mark.end);
  if (buffer_.size() >= kPieceBytes) flush();
}

Status SnapshotWriter::finish() {
  buffer_ += kEndMark;
  append_little_endian(buffer_, locks_);
  flush();
  append_little_endian(buffer_, checksum_.value());
  flush();
  return status_;
}

void SnapshotWriter::flush() {
  checksum_.add(buffer_);
  if (status_) status_ = sink_(buffer_);
  buffer_.clear();
}

SnapshotContent read_snapshot(const ByteSource& source, const SavedLockVisitor& visit,
                              const SavedMarkVisitor& visit_mark) {
  SnapshotContent content;
  Reader reader(source);
  content.header = read_header(reader);
  std::optional<std::uint64_t> hash_key;  // of the marks
  bool is_at_end = false;
  while (reader.ok() && !is_at_end) {
    char mark = static_cast<char>(reader.number<std::uint8_t>());
    ReadLabel label;
    if (mark == kLabelMark) {
      label = read_label(reader);
      mark = static_cast<char>(reader.number<std::uint8_t>());
      if (mark != kLockMark) reader.fail("it holds a label of no lock");
    }
    if (mark == kLockMark) {
      read_lock(reader, LockKind::text, label, content, visit);
    } else if (mark == kHashMark) {
      read_lock(reader, LockKind::hash, label, content, visit);
    } else if (mark == kReleaseMark) {
      read_mark(reader, hash_key, visit_mark);
    } else if (mark == kEndMark) {
      read_end(reader, content, source);
      is_at_end = true;
    } else {
      reader.fail("it holds something that is no lock and no mark");
    }
  }
  content.trouble = reader.trouble();
  content.state = reader.ok() ? SnapshotContent::State::readable : SnapshotContent::State::damaged;
  return content;
}

}  // namespace redlock::server
