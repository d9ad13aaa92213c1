// node_requests KIND COUNT: COUNT requests of a kind (SET, GET, PEXPIRE, EVAL, EVALSHA, DEL)
// through a node object, from received bytes to written replies, without a socket. For callgrind;
// see compare.
//
// All that can differ between two counts but the requests themselves is done whatever COUNT is: a
// run with none of them, taken from a run with all, leaves what the requests cost. Same arguments,
// same instructions: keys are a fixed shuffle, each request meets its own key, and time is made up.
#include "base/log.h"
#include "base/text/number.h"
#include "base/time.h"
#include "protocol/resp/request_writer.h"
#include "server/commands/families.h"
#include "server/node/node.h"

#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace redlock::server {
namespace {

constexpr std::uint64_t kRequests = 100'000;
constexpr std::uint64_t kStride = 61'803;  // shares no factor with kRequests: meets every key once
constexpr std::uint64_t kPipeline = 64;

constexpr std::string_view kRelease =
    "if redis.call('get',KEYS[1]) == ARGV[1] then return redis.call('del',KEYS[1]) "
    "else return 0 end";
// The same by the documentation of Redis, which a node knows.
constexpr std::string_view kKnownRelease = "647c65a442733a1aa440f99908d249d13b4d6c4a";

class Silence final : public LogSink {
 public:
  void log(LogLevel /*level*/, std::string_view /*text*/) override {}
};

// One pipeline's worth of requests, as it arrives in a read.
struct Batch {
  std::string bytes;
  std::uint64_t requests = 0;
};

std::string request(std::string_view kind, std::string_view key) {
  protocol::OutputBuffer out;
  const auto write = [&out](std::initializer_list<std::string_view> words) {
    protocol::write_request({words.begin(), words.size()}, out);
  };
  if (kind == "SET") write({"SET", key, "v", "NX", "PX", "30000"});
  if (kind == "GET") write({"GET", key});
  if (kind == "PEXPIRE") write({"PEXPIRE", key, "30000"});
  if (kind == "EVAL") write({"EVAL", kRelease, "1", key, "v"});
  if (kind == "EVALSHA") write({"EVALSHA", kKnownRelease, "1", key, "v"});
  if (kind == "DEL") write({"DEL", key});
  return std::string(out.view());
}

std::vector<Batch> batches(std::string_view kind) {
  std::vector<Batch> all;
  for (std::uint64_t i = 0; i < kRequests; ++i) {
    if (i % kPipeline == 0) all.emplace_back();
    all.back().bytes += request(kind, fmt::format("k:{:012}", i * kStride % kRequests));
    ++all.back().requests;
  }
  return all;
}

// Feeds batches until `count` requests have been made. False if a batch begins with an error.
bool feed(Node& node, protocol::Session& session, const std::vector<Batch>& all,
          std::uint64_t count, Now& now) {
  for (const Batch& batch : all) {
    if (count == 0) break;
    count -= batch.requests < count ? batch.requests : count;
    now.monotonic += 10us;
    node.receive(session, batch.bytes, now);
    if (session.output().view().starts_with('-')) {
      fmt::print(stderr, "node_requests: {}", session.output().view());
      return false;
    }
    session.output().clear();
  }
  return true;
}

int run(std::string_view kind, std::uint64_t count) {
  Silence silence;
  Settings settings;
  NodeStart start;  // nothing to recover from: it grants at once
  start.run_id = std::string(40, '0');
  Node node(all_families(), settings, start,
            {.inspect = [] { return ProcessFacts{}; }, .log = silence});
  Now now{Instant(1h), WallTime(1h)};
  node.begin_run(now);
  protocol::Session& session = node.open_session({}, now);
  if (kind != "SET" && !feed(node, session, batches("SET"), kRequests, now)) return 1;
  return feed(node, session, batches(kind), count, now) ? 0 : 1;
}

}  // namespace
}  // namespace redlock::server

int main(int argc, char** argv) {
  const std::string_view kind = argc == 3 ? argv[1] : "";
  const auto count = redlock::parse_int64(argc == 3 ? argv[2] : "");
  if (redlock::server::request(kind, "").empty() || !count || *count < 0) {
    fmt::print(stderr, "usage: node_requests SET|GET|PEXPIRE|EVAL|EVALSHA|DEL COUNT\n");
    return 64;
  }
  return redlock::server::run(kind, static_cast<std::uint64_t>(*count));
}
