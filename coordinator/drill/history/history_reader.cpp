// parse_history: strict, so that a mistake in a history is a message and never a wrong verdict.
#include "base/text/printable.h"
#include "coordinator/drill/history/history.h"
#include "coordinator/drill/history/history_fields.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace redlock::drill {
namespace {

constexpr std::string_view kSee = "docs/history.md has the format";
constexpr std::string_view kOwnField = "x_";  // what a writer adds for itself

using Problem = std::optional<std::string>;

std::string kinds_text() {
  std::string text;
  for (auto what = What::asks;; what = static_cast<What>(static_cast<int>(what) + 1)) {
    text += text.empty() ? "" : ", ";
    text += name_of(what);
    if (what == What::clock_jumped) return text;
  }
}

// Reads one value into place, or says what it must be.
Problem read_header_field(const std::string& name, const ReadJson& value, HistoryHeader& header) {
  const auto read_list = [&](std::vector<std::string>& list) {
    list.clear();
    return value.is_array() && std::all_of(value.begin(), value.end(), [&](const ReadJson& one) {
             return read_name(one, list.emplace_back());
           });
  };
  const auto read_about = [&] {
    bool is_texts = value.is_object();
    for (auto one = value.begin(); is_texts && one != value.end(); ++one) {
      is_texts = read_text(one.value(), header.about[one.key()]);
    }
    return is_texts;
  };
  const auto read_drift = [&] {
    if (value.is_number()) header.clock_drift = value.get<double>();
    return value.is_number() && header.clock_drift >= 0 && header.clock_drift <= kClockDriftMax;
  };
  const auto must = [&](bool is, std::string_view what) {
    return is ? Problem{} : fmt::format("\"{}\" must be {}", name, what);
  };
  if (name == "title") return must(read_text(value, header.title), "a text");
  if (name == "clock_drift") return must(read_drift(), "a number from 0 to 0.5, such as 0.01");
  if (name == "nodes") return must(read_list(header.nodes), "a list of addresses");
  if (name == "clients") return must(read_list(header.clients), "a list of names");
  if (name == "about") return must(read_about(), R"(an object of texts, as {"seed": "1"})");
  if (name == "format" || name == "version" || name.starts_with(kOwnField)) return {};
  return fmt::format("a header has no \"{}\"; begin names of your own with x_", name);
}

Problem read_header(const ReadJson& json, HistoryHeader& header) {
  if (json.value("format", ReadJson()) != "redlock-history")
    return R"("format" must be "redlock-history": is this a history?)";
  if (json.value("version", ReadJson()) != 1)
    return R"("version" must be 1: this program knows no other one)";
  for (const auto& [name, value] : json.items()) {
    if (Problem problem = read_header_field(name, value, header)) return problem;
  }
  return {};
}

Problem read_common(const ReadJson& json, Event& event) {
  const auto what = json.find("what");
  const auto time = json.find("t");
  const auto who = json.find("who");
  if (what == json.end() || !what->is_string())
    return R"(an event needs "what": what happened, a text)";
  const KindOfEvent* kind = find_kind(what->get_ref<const std::string&>());
  if (kind == nullptr)
    return fmt::format("there is no event {}; there are {}", what->dump(), kinds_text());
  event.what = kind->what;
  if (time == json.end() || !read_time(*time, event.at))
    return R"(an event needs "t": the time, a whole number of nanoseconds, from 0 to 2^62)";
  if (who == json.end() || !read_name(*who, event.who))
    return R"(an event needs "who": a client, or "node 1", a text of 1 to 256 bytes)";
  return {};
}

Problem read_field(const KindOfEvent& kind, const std::string& name, const ReadJson& value,
                   Event& event, unsigned& seen) {
  if (name == "t" || name == "who" || name == "what") return {};
  const auto fields = event_fields();
  const auto field = std::find_if(fields.begin(), fields.end(),
                                  [&](const EventField& one) { return one.name == name; });
  if (field == fields.end() || ((kind.required | kind.optional) & field->bit) == 0) {
    if (name.starts_with(kOwnField)) return {};
    return fmt::format("\"{}\" has no \"{}\"; begin names of your own with x_", kind.name, name);
  }
  if (!field->read(value, event) && !name.starts_with(kOwnField))
    return fmt::format("\"{}\" must be {}, not {}", name, field->is, value.dump().substr(0, 40));
  seen |= field->bit;
  return {};
}

Problem read_event(const ReadJson& json, Event& event) {
  if (Problem problem = read_common(json, event)) return problem;
  const KindOfEvent& kind = kind_of(event.what);
  unsigned seen = 0;
  for (const auto& [name, value] : json.items()) {
    if (Problem problem = read_field(kind, name, value, event, seen)) return problem;
  }
  for (const EventField& field : event_fields()) {
    if ((kind.required & ~seen & field.bit) != 0)
      return fmt::format("\"{}\" needs \"{}\": {}", kind.name, field.name, field.is);
  }
  return {};
}

// Lines of files into events, and then the events into one order and one sense.
class HistoryReader {
 public:
  Result<History> read(const std::vector<HistoryText>& files);

 private:
  Problem read_file(const HistoryText& file);
  Problem read_line(std::string_view line, bool is_first);
  Problem check_span() const;
  Problem check_names() const;
  Problem check_holds() const;
  Problem check_hold(const Event& event, const Event* acquired) const;
  std::string at_line(const Event& event, std::string_view text) const;

  History history_;
  std::uint32_t line_ = 0;
};

Result<History> HistoryReader::read(const std::vector<HistoryText>& files) {
  if (files.empty()) return Failure{"there is no file to read"};
  for (const HistoryText& file : files) {
    history_.files.push_back(file.name);
    if (Problem problem = read_file(file))
      return Failure{fmt::format("{}:{}: {} ({})", file.name, line_, *problem, kSee)};
  }
  std::stable_sort(history_.events.begin(), history_.events.end(),
                   [](const Event& a, const Event& b) { return a.at < b.at; });
  if (Problem problem = check_span()) return Failure{*problem};
  if (Problem problem = check_names()) return Failure{*problem};
  if (Problem problem = check_holds()) return Failure{*problem};
  return std::move(history_);
}

Problem HistoryReader::read_file(const HistoryText& file) {
  std::string_view rest = file.text;
  line_ = 1;
  if (rest.empty() && history_.files.size() == 1) return "the file is empty";
  for (; !rest.empty(); ++line_) {
    const std::size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    const bool is_whole = end != std::string_view::npos;
    rest.remove_prefix(is_whole ? end + 1 : rest.size());
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    // Its writer was killed while it wrote; the event did not come to be told. What has no header
    // yet may be anything.
    const bool has_header = line_ > 1 || history_.files.size() > 1;
    if (!is_whole && has_header && !ReadJson::accept(line)) {
      ++history_.unfinished_lines;
      return {};
    }
    if (Problem problem = read_line(line, line_ == 1)) return problem;
  }
  return {};
}

Problem HistoryReader::read_line(std::string_view line, bool is_first) {
  if (line.size() > kHistoryLineMax)
    return fmt::format("a line of {} bytes; at most {}", line.size(), kHistoryLineMax);
  const ReadJson json = ReadJson::parse(line, nullptr, false);
  if (json.is_discarded() || !json.is_object())
    return fmt::format("this is no JSON object: {:.40}", line);
  const bool is_header = json.contains("format");
  if (is_first && (is_header || history_.files.size() == 1)) {
    HistoryHeader further;
    return read_header(json, history_.files.size() == 1 ? history_.header : further);
  }
  if (is_header) return "a header stands in the first line of a file alone";
  Event& event = history_.events.emplace_back();
  event.file = static_cast<std::uint32_t>(history_.files.size() - 1);
  event.line = line_;
  return read_event(json, event);
}

Problem HistoryReader::check_span() const {
  if (history_.events.empty()) return {};
  const Event& first = history_.events.front();
  const Event& last = history_.events.back();
  if (last.at - first.at <= kHistorySpanMax) return {};
  return at_line(last, fmt::format("this is more than a year after {}: \"t\" must be nanoseconds, "
                                   "and of one clock",
                                   place_of(history_, first)));
}

// Who does what must be whom the header names, if it names any.
Problem HistoryReader::check_names() const {
  const auto& [nodes, clients] = std::tie(history_.header.nodes, history_.header.clients);
  std::unordered_set<std::string_view> known(clients.begin(), clients.end());
  std::vector<std::string> node_names;
  for (std::size_t i = 1; i <= nodes.size(); ++i) node_names.push_back(fmt::format("node {}", i));
  known.insert(node_names.begin(), node_names.end());
  for (const Event& event : history_.events) {
    const bool is_named = is_node(event.who) ? !nodes.empty() : !clients.empty();
    if (is_node(event.who) && is_of_a_client(event.what)) {
      return at_line(event, fmt::format("\"{}\" is of a client, and {} is a node",
                                        name_of(event.what), event.who));
    }
    if (is_named && !known.contains(event.who)) {
      return at_line(event, fmt::format("\"{}\" is none of the header's clients and nodes "
                                        "(node 1 to node {})",
                                        event.who, nodes.size()));
    }
  }
  return {};
}

Problem HistoryReader::check_holds() const {
  std::unordered_map<std::string_view, const Event*> acquired;
  for (const Event& event : history_.events) {
    if (event.what != What::acquired) continue;
    const auto [before, is_new] = acquired.emplace(event.hold, &event);
    if (!is_new) {
      return at_line(event, fmt::format("hold \"{}\" was acquired before, at {}; each holding "
                                        "needs a name of its own",
                                        event.hold, place_of(history_, *before->second)));
    }
  }
  for (const Event& event : history_.events) {
    if (event.hold.empty()) continue;
    const auto found = acquired.find(event.hold);
    if (Problem problem = check_hold(event, found == acquired.end() ? nullptr : found->second))
      return problem;
  }
  return {};
}

Problem HistoryReader::check_hold(const Event& event, const Event* acquired) const {
  if (acquired == nullptr)
    return at_line(event, fmt::format("hold \"{}\" is acquired nowhere", event.hold));
  if (event.who != acquired->who || event.lock != acquired->lock) {
    return at_line(
        event, fmt::format("hold \"{}\" is {}'s, of lock \"{}\" (at {})", event.hold, acquired->who,
                           acquired->lock, place_of(history_, *acquired)));
  }
  // Both are among the history's events; those of one time stay as they stood.
  if (&event < acquired) {
    return at_line(event, fmt::format("this comes before its hold was acquired, at {}",
                                      place_of(history_, *acquired)));
  }
  if (event.asked > event.at) return at_line(event, "\"asked\" is after \"t\"");
  return {};
}

std::string HistoryReader::at_line(const Event& event, std::string_view text) const {
  return fmt::format("{}:{}: {} ({})", history_.files[event.file], event.line, text, kSee);
}

}  // namespace

Result<History> parse_history(const std::vector<HistoryText>& files) {
  auto history = HistoryReader().read(files);
  if (!history)
    return Failure{printable(history.error().text)};  // it repeats what stands in the files
  return history;
}

}  // namespace redlock::drill
