// A log that never holds up who logs.
#include "base/net/log_file.h"

#include "base/invariant.h"
#include "base/net/turn/clock.h"
#include "tests/support/temporary_folder.h"

#include <array>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <fstream>
#include <memory>
#include <regex>
#include <sstream>
#include <string>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace redlock;
using namespace redlock::net;
using Catch::Contains;
using Catch::EndsWith;

namespace {

Instant now() {
  return read_clock(ClockKind::monotonic);
}

// A pipe whose reader reads when the test says so. The pipe takes 64 KB, then a write waits.
class SlowPipe {
 public:
  SlowPipe() { REQUIRE(pipe2(ends_.data(), O_CLOEXEC) == 0); }
  ~SlowPipe() {
    close_reader();
    close_writer();
  }
  SlowPipe(const SlowPipe&) = delete;
  SlowPipe& operator=(const SlowPipe&) = delete;

  int writer() const { return ends_[1]; }
  void close_reader() { close_end(ends_[0]); }
  void close_writer() { close_end(ends_[1]); }
  // It stays open: somebody may be writing to it yet.
  void leave_writer() { ends_[1] = -1; }
  // Until there is such a text.
  std::string read_until(const std::string& text) {
    std::string all;
    std::array<char, 65536> piece{};
    while (all.find(text) == std::string::npos) {
      const ssize_t count = read(ends_[0], piece.data(), piece.size());
      if (count <= 0) break;
      all.append(piece.data(), static_cast<std::size_t>(count));
    }
    return all;
  }

 private:
  static void close_end(int& end) {
    if (end >= 0) close(end);
    end = -1;
  }
  std::array<int, 2> ends_{-1, -1};
};

// No file of this process grows beyond so many bytes; the disk is full, so to speak. A thread that
// blocks SIGXFSZ, as the log's does, has an error.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    REQUIRE(getrlimit(RLIMIT_FSIZE, &before_) == 0);
    const rlimit limit{.rlim_cur = bytes, .rlim_max = before_.rlim_max};
    REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
  }
  ~FileSizeLimit() { setrlimit(RLIMIT_FSIZE, &before_); }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_{};
};

std::string content_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

}  // namespace

TEST_CASE("lines come out in their order, in the shape of Redis's log") {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/log";
  {
    auto log = LogFile::open(path);
    REQUIRE(log);
    log.value().log(LogLevel::notice, "first");
    log.value().log(LogLevel::warning, "second");
  }
  const std::string text = content_of(path);
  CHECK_THAT(text,
             Catch::Matches(fmt::format(R"({0}:M .* \* first\n{0}:M .* # second\n)", getpid())));
}

TEST_CASE("lines below the level are left out, as it is when they come") {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/log";
  {
    LogLevel level = LogLevel::warning;
    auto log = LogFile::open(path);
    REQUIRE(log);
    log.value().set_level(level);
    log.value().log(LogLevel::notice, "one");
    level = LogLevel::notice;
    log.value().log(LogLevel::notice, "two");
  }
  CHECK(count_of(content_of(path), "\n") == 1);
}

TEST_CASE("a pipe that nobody reads holds nobody up, and what it lost is counted in it") {
  SlowPipe pipe;
  constexpr std::size_t kLines = 20'000;
  auto log = LogFile::of_descriptor(pipe.writer());
  REQUIRE(log);
  const Instant start = now();
  for (std::size_t i = 0; i < kLines; ++i) {
    log.value().log(LogLevel::notice, fmt::format("line {} of many that say the same", i));
  }
  CHECK(now() - start < 5s);
  CHECK_FALSE(log.value().drain());
  std::string text;
  std::thread reader([&] { text = pipe.read_until("and it goes on"); });
  while (!log.value().drain()) continue;
  log.value().log(LogLevel::notice, "and it goes on");
  reader.join();
  CHECK_THAT(text, Contains("line 0 of many"));
  std::size_t told = 0;
  const std::regex lost(R"(lines that the log could not take: (\d+))");
  for (std::sregex_iterator found(text.begin(), text.end(), lost), end; found != end; ++found) {
    told += std::stoul((*found)[1]);
  }
  CHECK(told > 0);
  CHECK(count_of(text, "of many that") + told == kLines);
}

TEST_CASE("an end waits for a log that is stuck no longer than a second") {
  SlowPipe pipe;
  {
    auto log = std::make_unique<Result<LogFile>>(LogFile::of_descriptor(pipe.writer()));
    REQUIRE(*log);
    const std::string text(4'000, 'x');
    for (int i = 0; i < 40; ++i) log->value().log(LogLevel::notice, text);
    const Instant start = now();
    log.reset();
    CHECK(now() - start >= LogFile::kPatience);
    CHECK(now() - start < LogFile::kPatience + 2s);
  }
  pipe.close_reader();  // lets the thread go: its write fails, as SIGPIPE is blocked there
  pipe.leave_writer();
}

TEST_CASE("drain() tells whether all has come out") {
  SlowPipe pipe;
  auto log = LogFile::of_descriptor(pipe.writer());
  REQUIRE(log);
  log.value().log(LogLevel::notice, "said");
  CHECK(log.value().drain());
  const std::string text(4'000, 'x');
  for (int i = 0; i < 40; ++i) log.value().log(LogLevel::notice, text);
  CHECK_FALSE(log.value().drain());
  log.value().log(LogLevel::notice, "the end");
  CHECK_THAT(pipe.read_until("the end\n"), EndsWith("the end\n"));
}

TEST_CASE("a broken invariant comes out in the log, behind what was logged before it") {
  const TemporaryFolder folder;
  static std::string path;
  path = folder.path() + "/log";
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGABRT, SIG_DFL);
    static auto log = LogFile::open(path);
    tell_broken_invariants([](const char* text) {
      log.value().log(LogLevel::warning, text);
      log.value().drain();
    });
    log.value().log(LogLevel::notice, "before");
    INVARIANT(path.empty(), "for a test");
    _exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status));
  CHECK_THAT(content_of(path), Contains("before\n") && Contains("broken invariant: for a test"));
}

TEST_CASE("a line too long for one write into a pipe is cut") {
  SlowPipe pipe;
  auto log = LogFile::of_descriptor(pipe.writer());
  REQUIRE(log);
  log.value().log(LogLevel::notice, std::string(100'000, 'x'));
  const std::string line = pipe.read_until("\n");
  CHECK(line.size() == LogFile::kLineBytesMax);
  CHECK_THAT(line, EndsWith(" ...\n"));
}

TEST_CASE("a log that was renamed is opened anew by its name") {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/log";
  {
    auto log = LogFile::open(path);
    REQUIRE(log);
    log.value().log(LogLevel::notice, "before");
    REQUIRE(log.value().drain());
    REQUIRE(std::rename(path.c_str(), (path + ".1").c_str()) == 0);
    log.value().reopen();
    log.value().log(LogLevel::notice, "after");
  }
  CHECK_THAT(content_of(path + ".1"), EndsWith("before\n"));
  CHECK_THAT(content_of(path), EndsWith("after\n") && !Contains("before"));
}

TEST_CASE("a log that cannot be opened anew goes on where it was, and says so") {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/log";
  {
    auto log = LogFile::open(path);
    REQUIRE(log);
    REQUIRE(std::rename(path.c_str(), (path + ".1").c_str()) == 0);
    REQUIRE(mkdir(path.c_str(), 0700) == 0);
    log.value().reopen();
    log.value().log(LogLevel::notice, "after");
  }
  CHECK_THAT(content_of(path + ".1"), Contains("cannot open the log file") && EndsWith("after\n"));
}

TEST_CASE("of an audit that cannot be opened anew the log hears, too") {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/log";
  const std::string gone = folder.path() + "/gone";
  {
    auto log = LogFile::open(path);
    REQUIRE(mkdir(gone.c_str(), 0700) == 0);
    auto audit = LogFile::open(gone + "/audit", LogFile::Form::json);
    REQUIRE((log && audit));
    audit.value().tell_losses_in(log.value());
    REQUIRE(std::rename(gone.c_str(), (gone + ".1").c_str()) == 0);
    audit.value().reopen();
    REQUIRE(audit.value().drain());
  }
  CHECK_THAT(content_of(path),
             Contains("cannot open the log file " + gone + "/audit anew: No such"));
  CHECK_THAT(content_of(gone + ".1/audit"),
             Catch::StartsWith("{\"event\":\"file\"") && Contains("anew: No such"));
}

TEST_CASE("a pipe that nobody reads is refused as a log, and not waited for") {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/pipe";
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  const auto log = LogFile::open(path);
  REQUIRE_FALSE(log);
  CHECK_THAT(log.error().text, Contains("cannot open the log file"));
}

TEST_CASE("what a full disk does not take is counted, told, and leaves no half of a line") {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/audit";
  SlowPipe own;
  {
    auto log = LogFile::of_descriptor(own.writer());
    auto audit = LogFile::open(path, LogFile::Form::text);
    REQUIRE((log && audit));
    audit.value().tell_losses_in(log.value());
    const auto say = [&](std::string_view text) {
      audit.value().log(LogLevel::warning, text);
      REQUIRE(audit.value().drain());
    };
    say("the first");
    {
      const FileSizeLimit limit(14);  // the first line, and four bytes
      say("the second");
      say("the third");
      CHECK(audit.value().lines_lost() == 2);
    }
    say("the fourth");
    say("the fifth");
    {
      const FileSizeLimit limit(14);
      say("the sixth");
    }
    CHECK(audit.value().lines_lost() == 3);
  }
  CHECK(content_of(path) ==
        "the first\nthe \nlines that the log could not take: 2\nthe fourth\nthe fifth\n");
  own.close_writer();
  const std::string told = own.read_until("more than there is");
  CHECK(count_of(told, path + " loses lines, and counts them: File too large\n") == 2);
}

TEST_CASE("half a line ends before the next one, and leaves nothing in a new file") {
  const bool is_renamed = GENERATE(false, true);
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/audit";
  {
    auto audit = LogFile::open(path, LogFile::Form::text);
    REQUIRE(audit);
    {
      const FileSizeLimit limit(4);
      audit.value().log(LogLevel::warning, "the first");
      REQUIRE(audit.value().drain());
    }
    if (is_renamed) REQUIRE(std::rename(path.c_str(), (path + ".1").c_str()) == 0);
    audit.value().reopen();
    audit.value().log(LogLevel::warning, "the second");
  }
  const std::string half = is_renamed ? "" : "the \n";
  CHECK(content_of(path) == half + "lines that the log could not take: 1\nthe second\n");
}

TEST_CASE("lines that have no room to wait count as lost, and the other log hears of it once") {
  const TemporaryFolder folder;
  const std::string own_path = folder.path() + "/log";
  SlowPipe pipe;
  {
    auto log = LogFile::open(own_path);
    auto audit = LogFile::of_descriptor(pipe.writer());
    REQUIRE((log && audit));
    audit.value().tell_losses_in(log.value());
    const std::string text(4'000, 'x');
    for (int i = 0; i < 400; ++i) audit.value().log(LogLevel::notice, text);
    CHECK(audit.value().lines_lost() > 100);
    std::thread reader([&] { pipe.read_until("and it goes on"); });
    while (!audit.value().drain()) continue;
    audit.value().log(LogLevel::notice, "and it goes on");
    reader.join();
  }
  CHECK(count_of(content_of(own_path), "loses lines") == 1);
}

TEST_CASE("lines that had no room are told of behind those that had, without another") {
  SlowPipe pipe;
  std::string all;
  std::thread reader;
  const std::string text(4'000, 'x');
  {
    auto log = LogFile::of_descriptor(pipe.writer());
    REQUIRE(log);
    for (int i = 0; i < 400; ++i) log.value().log(LogLevel::notice, text);
    reader = std::thread([&] { all = pipe.read_until("more than there is"); });
    while (!log.value().drain()) continue;
  }
  pipe.close_writer();
  reader.join();
  const std::size_t told = all.rfind("lines that the log could not take: ");
  REQUIRE(told != std::string::npos);
  CHECK(told > all.rfind(text));
}

TEST_CASE("a descriptor that somebody else made non-blocking loses nothing") {
  SlowPipe pipe;
  REQUIRE(fcntl(pipe.writer(), F_SETFL, O_NONBLOCK) == 0);
  auto log = LogFile::of_descriptor(pipe.writer());
  REQUIRE(log);
  const std::string text(4'000, 'x');
  for (int i = 0; i < 40; ++i) log.value().log(LogLevel::notice, text);
  log.value().log(LogLevel::notice, "the last");
  const std::string all = pipe.read_until("the last\n");
  CHECK(count_of(all, text) == 40);
}
