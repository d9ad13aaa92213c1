#include "coordinator/drill/history/check_report.h"

#include "base/text/json.h"
#include "coordinator/drill/history/figures.h"

#include <fmt/format.h>

namespace redlock::drill {
namespace {

constexpr std::array<std::string_view, kFindingKinds> kTitles = {
    "two holders at once", "tokens out of order",     "tokens given twice",
    "old writes accepted", "losses noticed too late", "locks revived after their validity",
    "validities too long", "waiters starved"};

// 1234567 as "1,234,567".
std::string grouped(std::size_t count) {
  std::string text = std::to_string(count);
  for (std::size_t i = text.size(); i > 3; i -= 3) text.insert(i - 3, 1, ',');
  return text;
}

std::string plural(std::size_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", grouped(count), count == 1 ? one : many);
}

// To find the place by in a picture.
std::string rough_clock_text(const Story& story, Instant time) {
  const Duration since = time - story.time.from;
  return fmt::format("{:.1f} s", std::chrono::duration<double>(since).count());
}

std::string listed(const std::vector<std::string>& parts) {
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::size_t attempts_of(const Summary& summary) {
  std::size_t sum = summary.acquired + summary.unanswered;
  for (const auto& [why, count] : summary.refused) sum += count;
  return sum;
}

Figure attempts_figure(const Summary& summary) {
  std::vector<std::string> parts;
  for (const auto& [why, count] : summary.refused)
    parts.push_back(fmt::format("{} {}", spoken_name(why), grouped(count)));
  if (summary.unanswered > 0) parts.push_back(fmt::format("unanswered {}", summary.unanswered));
  return {
      "acquired",
      fmt::format("{} of {} attempts", grouped(summary.acquired), grouped(attempts_of(summary))),
      listed(parts)};
}

Figure latency_figure(const Latency& latency) {
  if (latency.count == 0) return {"time to acquire", "none", ""};
  return {"time to acquire", fmt::format("{} (median)", precise_duration(latency.median)),
          fmt::format("99 % within {}, the slowest {}; waiting for other holders included",
                      precise_duration(latency.p99), precise_duration(latency.max))};
}

Figure availability_figure(const Story& story, const Availability& availability) {
  Figure figure{"available", fmt::format("{:.2f} %", 100 * availability.share()),
                "of the time in which a lock was wanted"};
  if (availability.longest.is_empty()) return figure;
  figure.note += fmt::format(
      "; longest gap {}, at {}, lock \"{}\"", precise_duration(availability.longest.length()),
      rough_clock_text(story, availability.longest.from), story.locks[availability.longest_lock]);
  return figure;
}

Figure faults_figure(std::string name, const std::array<std::size_t, kWhats>& faults) {
  struct Told {
    What what;
    std::string_view as;
  };
  constexpr std::array kTold = {Told{What::killed, "killed"}, Told{What::stopped, "stopped"},
                                Told{What::cut, "cut off"}, Told{What::slowed, "slowed"},
                                Told{What::clock_jumped, "clock jumped"}};
  std::size_t sum = 0;
  std::vector<std::string> parts;
  for (const auto& [what, as] : kTold) {
    const std::size_t count = faults.at(static_cast<std::size_t>(what));
    sum += count;
    if (count > 0) parts.push_back(fmt::format("{} {}", as, count));
  }
  return {std::move(name), std::to_string(sum), listed(parts)};
}

Figure client_faults_figure(const Summary& summary) {
  Figure figure = faults_figure("faults of clients", summary.faults_of_clients);
  if (summary.pauses_over_an_end > 0) {
    figure.note += fmt::format("; {} beyond the end of a validity",
                               plural(summary.pauses_over_an_end, "stop", "stops"));
  }
  return figure;
}

Figure losses_figure(const Losses& losses) {
  std::vector<std::string> parts;
  if (losses.least_ahead) {
    parts.push_back(fmt::format("at least {} before the end of the validity",
                                precise_duration(*losses.least_ahead)));
  }
  if (losses.by_paused > 0) {
    parts.push_back(fmt::format("{} more of stopped clients", losses.by_paused));
    if (losses.slowest_after_pause) {
      parts.back() += fmt::format(", noticed at most {} after they went on",
                                  precise_duration(*losses.slowest_after_pause));
    }
  }
  if (losses.by_killed > 0) parts.push_back(fmt::format("{} of killed ones", losses.by_killed));
  return {"losses", fmt::format("{} noticed in time", losses.in_time),
          fmt::format("{}", fmt::join(parts, "; "))};
}

Figure writes_figure(const Writes& writes) {
  return {"writes",
          fmt::format("{} accepted, {} refused", grouped(writes.accepted), grouped(writes.refused)),
          fmt::format(
              "late ones: {} refused, {} accepted, of which {} when the lock had its next holder",
              writes.late_refused, writes.late_accepted, writes.late_after_next)};
}

Figure waits_figure(const Waits& waits) {
  return {"waits in line",
          fmt::format("{} of {} served", grouped(waits.served), grouped(waits.count)),
          fmt::format("the longest {}; overtaken by {} at most; nobody had the lock for {} at most",
                      precise_duration(waits.longest), waits.overtaken,
                      precise_duration(waits.longest_idle))};
}

std::string findings_text(const Report& report) {
  std::string text;
  for (std::size_t i = 0; i < kFindingKinds; ++i) {
    if (report.counts[i] == 0) continue;
    text += fmt::format("\n{}: {}\n", kTitles[i], report.counts[i]);
    std::size_t printed = 0;
    for (const Finding& finding : report.findings) {
      if (static_cast<std::size_t>(finding.kind) != i) continue;
      if (++printed > kFindingsPrinted) break;
      text += fmt::format("  {}\n", finding.text);
    }
    if (report.counts[i] > kFindingsPrinted)
      text += fmt::format("  … and {} more\n", report.counts[i] - kFindingsPrinted);
  }
  return text;
}

Figure changes_figure(const Story& story, const GroupChanges& changes) {
  Figure figure{
      "group changes", std::to_string(changes.count()),
      fmt::format("{} replaced, {} added, {} removed; {} of who made them", changes.replaced,
                  changes.added, changes.removed, plural(changes.kills, "kill", "kills"))};
  const auto longest = [&story](TimeRange time) {
    if (time.is_empty()) return std::string("none");
    return fmt::format("{}, at {}", precise_duration(time.length()),
                       rough_clock_text(story, time.from));
  };
  figure.note += fmt::format(
      "; longest gap of a lock meanwhile {}; during {} without another fault {}, and the longest "
      "that a client got no quorum {}",
      precise_duration(changes.longest_gap), plural(changes.undisturbed, "change", "changes"),
      longest(changes.longest_undisturbed), longest(changes.longest_without));
  return figure;
}

void add_faults(JsonObject& json, const Summary& summary) {
  JsonObject nodes;
  JsonObject clients;
  for (What what = What::killed; what <= What::clock_jumped;
       what = static_cast<What>(static_cast<int>(what) + 1)) {
    const auto index = static_cast<std::size_t>(what);
    nodes.add(name_of(what), summary.faults_of_nodes.at(index));
    clients.add(name_of(what), summary.faults_of_clients.at(index));
  }
  clients.add("stopped_over_an_end", summary.pauses_over_an_end);
  json.add("nodes", nodes);
  json.add("clients", clients);
}

JsonObject figures_json(const Summary& summary) {
  const auto ms = [](Duration d) { return std::chrono::duration<double, std::milli>(d).count(); };
  const auto optional_ms = [&](const std::optional<Duration>& d) {
    return d ? Json(ms(*d)) : Json();
  };
  const auto& [latency, availability, losses, writes] =
      std::tie(summary.latency, summary.availability, summary.losses, summary.writes);
  JsonObject json = {{"events", summary.events},           {"attempts", attempts_of(summary)},
                     {"acquired", summary.acquired},       {"fenced", summary.fenced},
                     {"without_ttl", summary.without_ttl}, {"refused", summary.refused},
                     {"unanswered", summary.unanswered},   {"extended", summary.extended},
                     {"released", summary.released}};
  json.add("latency_ms",
           JsonObject{
               {"median", ms(latency.median)}, {"p99", ms(latency.p99)}, {"max", ms(latency.max)}});
  json.add("availability", JsonObject{{"share", availability.share()},
                                      {"longest_gap_ms", ms(availability.longest.length())}});
  json.add("losses", JsonObject{{"in_time", losses.in_time},
                                {"least_ahead_ms", optional_ms(losses.least_ahead)},
                                {"by_paused", losses.by_paused},
                                {"slowest_after_pause_ms", optional_ms(losses.slowest_after_pause)},
                                {"by_killed", losses.by_killed}});
  json.add("writes", JsonObject{{"accepted", writes.accepted},
                                {"refused", writes.refused},
                                {"late_accepted", writes.late_accepted},
                                {"late_refused", writes.late_refused},
                                {"late_after_next", writes.late_after_next}});
  json.add("waits", JsonObject{{"count", summary.waits.count},
                               {"served", summary.waits.served},
                               {"longest_ms", ms(summary.waits.longest)},
                               {"overtaken", summary.waits.overtaken},
                               {"longest_idle_ms", ms(summary.waits.longest_idle)}});
  const GroupChanges& changes = summary.changes;
  json.add("changes",
           JsonObject{{"replaced", changes.replaced},
                      {"added", changes.added},
                      {"removed", changes.removed},
                      {"kills", changes.kills},
                      {"longest_gap_ms", ms(changes.longest_gap)},
                      {"undisturbed", changes.undisturbed},
                      {"longest_undisturbed_gap_ms", ms(changes.longest_undisturbed.length())},
                      {"longest_without_quorum_ms", ms(changes.longest_without.length())}});
  add_faults(json, summary);
  return json;
}

JsonObject json_of(const History& history, const Story& story, const Finding& finding) {
  JsonArray places;
  for (const std::size_t event : finding.events) {
    places.add(place_of(history, history.events[event]));
  }
  return {{"kind", name_of(finding.kind)},
          {"lock", story.locks[finding.lock]},
          {"t", finding.time.from.time_since_epoch().count()},
          {"until", finding.time.to.time_since_epoch().count()},
          {"places", places},
          {"text", finding.text}};
}

}  // namespace

std::string verdict_text(const Report& report) {
  if (report.is_clean()) {
    const bool is_all_judged = report.summary.without_ttl == 0;
    return fmt::format(
        "Nothing found: no two holders at once, no token out of order, no old write accepted, "
        "every loss noticed in time, no lock revived{}{}.",
        is_all_judged ? ", no validity too long" : "",
        report.summary.waits.count > 0 ? ", nobody starved" : "");
  }
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < kFindingKinds; ++i) {
    if (report.counts[i] > 0) parts.push_back(fmt::format("{}: {}", kTitles[i], report.counts[i]));
  }
  return fmt::format("{}: {}.", plural(report.count(), "finding", "findings"), listed(parts));
}

std::string scale_text(const Story& story) {
  return fmt::format("{}, {}, {}, {}", precise_duration(story.time.length()),
                     plural(story.clients, "client", "clients"),
                     plural(story.parties.size() - story.clients, "node", "nodes"),
                     plural(story.locks.size(), "lock", "locks"));
}

std::vector<Figure> figures_of(const History& history, const Story& story, const Report& report) {
  const Summary& summary = report.summary;
  std::vector<Figure> figures = {attempts_figure(summary),
                                 latency_figure(summary.latency),
                                 availability_figure(story, summary.availability),
                                 {"kept", plural(summary.extended, "extension", "extensions"),
                                  plural(summary.released, "release", "releases")},
                                 losses_figure(summary.losses),
                                 writes_figure(summary.writes),
                                 faults_figure("faults of nodes", summary.faults_of_nodes),
                                 client_faults_figure(summary)};
  if (summary.waits.count > 0) figures.push_back(waits_figure(summary.waits));
  if (summary.changes.count() > 0) figures.push_back(changes_figure(story, summary.changes));
  if (summary.fenced < summary.acquired) {
    figures.push_back({"fencing tokens",
                       fmt::format("{} without", grouped(summary.acquired - summary.fenced)),
                       fmt::format("of {} acquisitions", grouped(summary.acquired))});
  }
  if (summary.without_ttl > 0) {
    figures.push_back({"TTLs",
                       fmt::format("{} of {} not told", grouped(summary.without_ttl),
                                   plural(summary.acquired, "hold", "holds")),
                       "whether their validity is too long cannot be judged"});
  }
  if (history.unfinished_lines > 0) {
    figures.push_back({"left out", plural(history.unfinished_lines, "line", "lines"),
                       "unfinished at the end of a file: its writer was killed"});
  }
  return figures;
}

std::string report_text(const History& history, const Story& story, const Report& report) {
  const std::string& title = history.header.title;
  std::string text = fmt::format("{}{}{}\n", title, title.empty() ? "" : ": ", scale_text(story));
  for (const auto& [name, value, note] : figures_of(history, story, report)) {
    text += fmt::format("  {:<18}{}{}{}\n", name, value, note.empty() ? "" : "; ", note);
  }
  return text + findings_text(report) + "\n" + verdict_text(report) + "\n";
}

std::string report_json(const History& history, const Story& story, const Report& report) {
  JsonObject json = {{"title", history.header.title},
                     {"clean", report.is_clean()},
                     {"seconds", std::chrono::duration<double>(story.time.length()).count()},
                     {"clients", story.clients},
                     {"nodes", story.parties.size() - story.clients},
                     {"locks", story.locks.size()}};
  JsonObject counts;
  for (std::size_t i = 0; i < kFindingKinds; ++i) {
    counts.add(name_of(static_cast<FindingKind>(i)), report.counts[i]);
  }
  JsonArray findings;
  for (const Finding& finding : report.findings) findings.add(json_of(history, story, finding));
  json.add("counts", counts);
  json.add("figures", figures_json(report.summary));
  json.add("findings", findings);
  return json.text() + "\n";
}

}  // namespace redlock::drill
