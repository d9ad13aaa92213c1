// MONITOR, SLOWLOG, LATENCY: what is executed, and how long it takes.
#include "base/text/number.h"
#include "base/text/words.h"
#include "protocol/catalogue/command_docs.h"
#include "protocol/resp/errors.h"
#include "server/commands/families.h"
#include "server/node/command.h"
#include "server/node/node.h"

#include <algorithm>

#include <fmt/format.h>

namespace redlock::server {
namespace {

using namespace protocol;  // flags and error texts

// A session that monitors already is not answered, as in Redis.
Reply monitor(Call& call) {
  if (call.in_transaction) {
    return Reply::error_view("ERR MONITOR isn't allowed for DENY BLOCKING client");
  }
  if (call.session.is_in(Session::kMonitoring)) return Reply::none();
  call.node.observers().join(call.session);
  return Reply::ok();
}

std::int64_t whole_seconds(WallTime when) {
  return std::chrono::floor<std::chrono::seconds>(when.time_since_epoch()).count();
}

Reply slow_entry(const SlowLog::Entry& entry) {
  Reply words = Reply::array();
  for (const std::string& word : entry.words) words.add(Reply::bulk_view(word));
  Reply out = Reply::array();
  out.add(Reply::integer(entry.number))
      .add(Reply::integer(whole_seconds(entry.when)))
      .add(Reply::integer(entry.took / 1us))
      .add(std::move(words))
      .add(Reply::bulk_view(entry.address))
      .add(Reply::bulk_view(entry.client));
  return out;
}

Reply slowlog_get(Call& call) {
  constexpr std::int64_t kAll = -1;
  constexpr std::int64_t kUsual = 10;
  if (call.words.size() > 3) return wrong_subcommand_use("slowlog", call.word(1));
  std::int64_t count = kUsual;
  if (call.words.size() == 3) {
    const auto number = parse_int64(call.word(2));
    if (!number || *number < kAll) {
      return Reply::error_view("ERR count should be greater than or equal to -1");
    }
    count = *number;
  }
  Reply out = Reply::array();
  for (const SlowLog::Entry& entry : call.node.observers().slow_log().entries()) {
    if (count == 0) break;
    if (count > 0) --count;
    out.add(slow_entry(entry));
  }
  return out.owned();  // this very command may become an entry, and push one out
}

Reply slowlog_len(Call& call) {
  const std::size_t length = call.node.observers().slow_log().entries().size();
  return Reply::integer(static_cast<std::int64_t>(length));
}

Reply slowlog_reset(Call& call) {
  call.node.observers().slow_log().clear();
  return Reply::ok();
}

Reply slowlog_help(Call& call) {
  return container_help(call.node.commands().specs(), "slowlog");
}

Reply latency_latest(Call& call) {
  Reply out = Reply::array();
  for (const auto& [name, event] : call.node.observers().latency_events().all()) {
    Reply one = Reply::array();
    one.add(Reply::bulk(name))
        .add(Reply::integer(event.samples.back().second))
        .add(Reply::integer(event.samples.back().ms))
        .add(Reply::integer(event.longest_ms));
    out.add(std::move(one));
  }
  return out;
}

Reply latency_history(Call& call) {
  Reply out = Reply::array();
  const auto* event = call.node.observers().latency_events().find(call.word(2));
  if (event == nullptr) return out;
  for (const auto& sample : event->samples) {
    Reply one = Reply::array();
    out.add(std::move(one.add(Reply::integer(sample.second)).add(Reply::integer(sample.ms))));
  }
  return out;
}

Reply latency_reset(Call& call) {
  LatencyEvents& events = call.node.observers().latency_events();
  std::int64_t forgotten = 0;
  if (call.words.size() == 2) {
    forgotten = static_cast<std::int64_t>(events.all().size());
    events = {};
  }
  for (const std::string_view name : call.words.subspan(2)) {
    if (events.forget(name)) ++forgotten;
  }
  return Reply::integer(forgotten);
}

Reply latency_doctor(Call& call) {
  Observers& observers = call.node.observers();
  return Reply::verbatim(observers.latency_events().report(observers.latency_threshold_ms()));
}

Reply latency_graph(Call& call) {
  const auto* event = call.node.observers().latency_events().find(call.word(2));
  if (event == nullptr) {
    return Reply::error(
        fmt::format("ERR No samples available for event '{}'", echoed(call.word(2))));
  }
  return Reply::verbatim(LatencyEvents::picture(call.word(2), *event, call.now.wall));
}

Reply histogram(const CallHistogram& of) {
  Reply buckets = Reply::map({});
  for (const auto& [bound_us, calls] : of.cumulated()) {
    buckets.add(Reply::integer(bound_us)).add(Reply::integer(static_cast<std::int64_t>(calls)));
  }
  Reply out = Reply::map({});
  out.add_field("calls", Reply::integer(static_cast<std::int64_t>(of.calls())));
  out.add_field("histogram_usec", std::move(buckets));
  return out;
}

// A container stands for its subcommands, and no name for all commands.
bool is_asked_for(std::string_view command, Request names) {
  if (names.empty()) return true;
  return std::any_of(names.begin(), names.end(), [&](std::string_view name) {
    return equals_ignoring_case(command, name) ||
           equals_ignoring_case(command.substr(0, command.find('|')), name);
  });
}

Reply latency_histogram(Call& call) {
  Reply out = Reply::map({});
  for (const auto& [name, of] : call.node.observers().histograms()) {
    if (is_asked_for(name, call.words.subspan(2))) out.add_field(name, histogram(of));
  }
  return out;
}

Reply latency_help(Call& call) {
  return container_help(call.node.commands().specs(), "latency");
}

constexpr std::uint32_t kObserve = kAdmin | kLoading | kStale;
constexpr std::uint32_t kObserveLatency = kObserve | kNoScript;

constexpr Command kObservingCommands[] = {
    {{"monitor", 1, kAdmin | kNoScript | kLoading | kStale, 0, 0, 0, "server", "1.0.0",
      "Shows every command that is executed.", ""},
     monitor},
    {{"slowlog", -2, 0, 0, 0, 0, "server", "2.2.12", "Commands about what took long.", ""},
     nullptr},
    {{"slowlog|get", -2, kObserve | kTimed, 0, 0, 0, "server", "2.2.12",
      "Answers the commands that took longest, the newest first.", "[count]"},
     slowlog_get},
    {{"slowlog|len", 2, kObserve, 0, 0, 0, "server", "2.2.12", "Answers how many are remembered.",
      ""},
     slowlog_len},
    {{"slowlog|reset", 2, kObserve, 0, 0, 0, "server", "2.2.12", "Forgets them.", ""},
     slowlog_reset},
    {{"slowlog|help", 2, kLoading | kStale, 0, 0, 0, "server", "6.2.0",
      "Explains SLOWLOG's subcommands.", ""},
     slowlog_help},
    {{"latency", -2, 0, 0, 0, 0, "server", "2.8.13", "Commands about how long things take.", ""},
     nullptr},
    {{"latency|latest", 2, kObserveLatency, 0, 0, 0, "server", "2.8.13",
      "Answers when each event last took too long.", ""},
     latency_latest},
    {{"latency|history", 3, kObserveLatency, 0, 0, 0, "server", "2.8.13",
      "Answers when an event took too long.", "event"},
     latency_history},
    {{"latency|reset", -2, kObserveLatency, 0, 0, 0, "server", "2.8.13", "Forgets events, or all.",
      "[event [event ...]]"},
     latency_reset},
    {{"latency|doctor", 2, kObserveLatency, 0, 0, 0, "server", "2.8.13",
      "Tells in words what took too long.", ""},
     latency_doctor},
    {{"latency|graph", 3, kObserveLatency, 0, 0, 0, "server", "2.8.13",
      "Draws when an event took too long.", "event"},
     latency_graph},
    {{"latency|histogram", -2, kObserveLatency, 0, 0, 0, "server", "7.0.0",
      "Answers how many calls of a command took how long.", "[command [command ...]]"},
     latency_histogram},
    {{"latency|help", 2, kLoading | kStale, 0, 0, 0, "server", "2.8.13",
      "Explains LATENCY's subcommands.", ""},
     latency_help},
};

}  // namespace

Family observing_commands() {
  return kObservingCommands;
}

}  // namespace redlock::server
