#include "coordinator/drill/surroundings/wall_clocks.h"

#include "base/net/text_file.h"
#include "base/net/turn/clock.h"
#include "base/text/number.h"

#include <cstdio>
#include <filesystem>

#include <fmt/format.h>

namespace redlock::drill {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLibrary = "faketime/libfaketimeMT.so.1";

// Debian has it below the folder of the machine's kind, others in lib or lib64.
std::string find_library() {
  std::error_code ignored;
  for (const char* top : {"/usr/lib", "/usr/lib64", "/usr/local/lib"}) {
    if (fs::exists(fs::path(top) / kLibrary, ignored)) return fs::path(top) / kLibrary;
    for (const auto& folder : fs::directory_iterator(top, ignored)) {
      if (fs::exists(folder.path() / kLibrary, ignored)) return folder.path() / kLibrary;
    }
  }
  return {};
}

}  // namespace

WallClocks::WallClocks(Stage& stage, std::string folder)
    : stage_(stage), folder_(std::move(folder)) {}

Status WallClocks::set_up() {
  library_ = find_library();
  if (library_.empty()) return Failure{"not installed: libfaketime (package libfaketime)"};
  return see_a_jump();
}

// A drill whose clocks stand still would find nothing, whatever the nodes do.
Status WallClocks::see_a_jump() {
  const std::string name = "trial";
  auto environment = environment_of(name);
  if (!environment) return environment.error();
  constexpr Duration kFar = std::chrono::hours(24);
  if (auto jumped = jump(name, kFar); !jumped) return jumped;
  std::vector<std::string> words = {"env"};
  words.insert(words.end(), environment.value().begin(), environment.value().end());
  words.insert(words.end(), {"date", "+%s"});
  const auto told = run_to_end(stage_, std::move(words), folder_ + "/trial.log");
  if (!told) return Failure{"date, under libfaketime: " + told.error().text};
  const auto seconds = parse_int64(told.value());
  const WallTime seen{std::chrono::seconds(seconds.value_or(0))};
  if (seen > net::read_wall_clock() + kFar / 2) return Done{};
  return Failure{
      fmt::format("{} does not move the clock here: date told {}", library_, told.value())};
}

Result<std::vector<std::string>> WallClocks::environment_of(const std::string& name) {
  if (auto written = jump(name, 0s); !written) return written.error();
  // libc stands beside it for a node program with jemalloc (redis-server), which reads the clock
  // while libfaketime is being set up, and both wait for ever: so libc's malloc is the one taken.
  return std::vector<std::string>{fmt::format("LD_PRELOAD={} libc.so.6", library_),
                                  fmt::format("FAKETIME_TIMESTAMP_FILE={}", file_of(name)),
                                  "FAKETIME_DONT_FAKE_MONOTONIC=1", "FAKETIME_NO_CACHE=1"};
}

// Replaced by a rename: the program must never read half of it.
Status WallClocks::jump(const std::string& name, Duration by) {
  shifts_[name] += by;
  const std::string path = file_of(name);
  const std::string written = path + ".new";
  const std::string shift =
      fmt::format("{:+.3f}\n", std::chrono::duration<double>(shifts_[name]).count());
  if (net::write_text_file(written, shift) && std::rename(written.c_str(), path.c_str()) == 0)
    return Done{};
  return Failure{fmt::format("{} cannot be written", path)};
}

std::string WallClocks::file_of(const std::string& name) const {
  return fmt::format("{}/clock of {}", folder_, name);
}

}  // namespace redlock::drill
