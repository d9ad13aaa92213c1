#include "coordinator/cli/messages.h"

#include "base/invariant.h"
#include "base/net/turn/quiet_thread.h"

#include <cerrno>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <string_view>
#include <unistd.h>
#include <utility>

namespace redlock::coordinator {

// Thread safety: all of it. Its thread may outlive its maker:
// a write that blocks ends with the process.
class UnblockedMessages::Writer {
 public:
  explicit Writer(int descriptor) : descriptor_(descriptor) {}

  void add(const std::string& text) {
    const std::lock_guard lock(mutex_);
    if (queue_.size() + text.size() > kQueueBytesMax) return;
    queue_ += text;
    changed_.notify_all();
  }

  void wait_until_written(Duration wait) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, wait, [this] { return queue_.empty() && !is_writing_; });
  }

  void close(Duration wait) {
    std::unique_lock lock(mutex_);
    is_closed_ = true;
    changed_.notify_all();
    changed_.wait_for(lock, wait, [this] { return queue_.empty() && !is_writing_; });
  }

  // The thread's work.
  void write_on() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return !queue_.empty() || is_closed_; });
      if (queue_.empty()) return;
      const std::string text = std::exchange(queue_, {});
      is_writing_ = true;
      lock.unlock();
      write_all(text);
      lock.lock();
      is_writing_ = false;
      changed_.notify_all();
    }
  }

 private:
  void write_all(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t count = write(descriptor_, text.data(), text.size());
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return;
      text.remove_prefix(static_cast<std::size_t>(count));
    }
  }

  const int descriptor_;
  std::mutex mutex_;  // over what follows
  std::condition_variable changed_;
  std::string queue_;
  bool is_writing_ = false;
  bool is_closed_ = false;
};

namespace {

// Of the UnblockedMessages that there are, by MessageStream.
std::array<UnblockedMessages::Writer*, 2> current_writers{};

bool is_quiet = false;
std::string last_line;

// What the terminal shows next is a command's, and shall not stand behind the line. One that takes
// nothing (Ctrl-S) is not waited for any longer: the lock is held by then (rule H2).
constexpr Duration kLastLineWait = 100ms;

// Not fmt::print, which throws when standard error is full or nobody reads it any more: that must
// not end a command that runs under a lock.
void write_out(MessageStream stream, const std::string& text) {
  UnblockedMessages::Writer* writer = current_writers[static_cast<std::size_t>(stream)];
  if (writer != nullptr) return writer->add(text);
  static_cast<void>(std::fputs(text.c_str(), stream == MessageStream::output ? stdout : stderr));
}

}  // namespace

void say(MessageStream stream, const std::string& text) {
  if (stream == MessageStream::error && is_quiet) return;
  if (last_line.empty() || stream == MessageStream::output) return write_out(stream, text);
  write_out(stream, std::string(kEraseLine) + text + last_line);
}

void be_quiet() {
  is_quiet = true;
}

void draw_last_line(const std::string& line) {
  if (line == last_line || is_quiet) return;
  last_line = line;
  write_out(MessageStream::error, std::string(kEraseLine) + line);
  UnblockedMessages::Writer* writer =
      current_writers[static_cast<std::size_t>(MessageStream::error)];
  if (line.empty() && writer != nullptr) writer->wait_until_written(kLastLineWait);
}

// The threads are made now: at the loss of a lock there may be no room for one more.
UnblockedMessages::UnblockedMessages() {
  INVARIANT(current_writers[0] == nullptr, "one at a time");
  for (const int descriptor : {STDOUT_FILENO, STDERR_FILENO}) {
    const auto writer = std::make_shared<Writer>(descriptor);
    auto thread = net::start_quiet_thread([writer] { writer->write_on(); });
    if (!thread) {
      problem_ = thread.error().text;
      return;
    }
    std::move(thread).value().detach();
    const auto i = static_cast<std::size_t>(descriptor - STDOUT_FILENO);
    writers_[i] = writer;
    current_writers[i] = writer.get();
  }
}

UnblockedMessages::~UnblockedMessages() {
  current_writers = {};
  for (const auto& writer : writers_) {
    if (writer != nullptr) writer->close(kLastWordsWait);
  }
}

}  // namespace redlock::coordinator
