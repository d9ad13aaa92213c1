// Who waits in a lock's line, and what is made of it: each reason to be passed over has a history
// in which it explains it, and one in which nothing does.
#include "coordinator/drill/history/check_report.h"
#include "tests/unit/coordinator/drill/history/judged_history.h"

#include <fmt/format.h>

namespace redlock::drill {
namespace {

constexpr int kHold = 20;  // ms

// The lock is passed on from `from` on, every 20 ms, by `count` clients that ask one after another.
std::string passed_on(int count, int from, const std::string& name = "late") {
  std::string text;
  for (int i = 0; i < count; ++i) {
    const int at = from + i * kHold;
    text += fmt::format(
        "{0} {3}{1} asks\n{0} {3}{1} acquired {3}{1} until {2} ttl 1000\n{4} {3}{1} releases "
        "{3}{1}\n",
        at, i, at + 900, name, at + kHold - 1);
  }
  return text;
}

// anna waits since 20 ms, while first holds; she is served at `served`, or never.
std::string with_anna(int served, const std::string& others) {
  std::string text = R"(
     10 first asks
     11 first acquired f until 900 ttl 1000
     15 anna asks
     20 anna waits until 2000
     40 first releases f
  )";
  if (served > 0)
    text += fmt::format("{0} anna acquired a asked 15 until {1} ttl 1000\n", served, served + 900);
  if (served > 0) text += fmt::format("{} anna releases a\n", served + 5);
  return text + others;
}

Waits waits(const std::string& transcript) {
  return judged(transcript).summary.waits;
}

std::vector<Wait> told(const std::string& transcript) {
  const History history = told_history(transcript);
  return waits_of(history, tell(history));
}

TEST_CASE("sixteen that came later may be served before a waiter; seventeen starve it") {
  CHECK(found(with_anna(400, passed_on(16, 41))) == Kinds{});
  CHECK(waits(with_anna(400, passed_on(16, 41))).overtaken == 16);
  const Report report = judged(with_anna(400, passed_on(17, 41)));
  REQUIRE(report.findings.size() == 1);
  CHECK(name_of(report.findings.front().kind) == "starved");
  CHECK(
      report.findings.front().text ==
      "lock \"a\": anna waited from 0.010000 s on (line 5); 17 that came later got it before, the "
      "last of them late16 (acquired at 0.351000 s, line 58)");
}

TEST_CASE("it is starved as well if it is never served, or refused in the end") {
  CHECK(found(with_anna(0, passed_on(17, 41))) == Kinds{"starved"});
  CHECK(found(with_anna(0, passed_on(98, 41) + "2001 anna refused because held\n")) ==
        Kinds{"starved"});
}

TEST_CASE("who came before is no overtaker, by the beginning of its wait or its asking") {
  std::string before;
  for (int i = 0; i < 12; ++i) {
    before += fmt::format(
        "12 early{0} asks\n16 early{0} waits\n{1} early{0} acquired e{0} asked 12 "
        "until {2} ttl 1000\n{3} early{0} releases e{0}\n",
        i, 41 + i * kHold, 941 + i * kHold, 60 + i * kHold);
  }
  const Waits all = waits(with_anna(400, before));
  CHECK(all.count == 13);
  CHECK(all.served == 13);
  CHECK(all.overtaken == 0);
  CHECK(all.longest == 385ms);
  CHECK(found(with_anna(400, before)) == Kinds{});
  // One that asked before, and got it without having to wait.
  CHECK(waits(with_anna(100,
                        "12 bert asks\n41 bert acquired b asked 12 until 900 ttl 1000\n"
                        "60 bert releases b\n"))
            .overtaken == 0);
}

TEST_CASE("who asked earlier but began to wait later came later") {
  CHECK(waits(with_anna(100,
                        "12 bert asks\n30 bert waits\n41 bert acquired b asked 12 until 900 "
                        "ttl 1000\n60 bert releases b\n"))
            .overtaken == 1);
}

TEST_CASE("while its client does not run, and until it is back in line, it may be passed over") {
  CHECK(found(with_anna(2000, "41 anna stopped\n400 anna continued\n" + passed_on(30, 42))) ==
        Kinds{});
  CHECK(found(with_anna(2000, "41 anna stopped\n42 anna continued\n" + passed_on(30, 43))) ==
        Kinds{});
  CHECK(found(with_anna(2000, "41 anna stopped\n42 anna continued\n" + passed_on(80, 43))) ==
        Kinds{"starved"});
  CHECK(found(with_anna(1000, "41 bert stopped\n" + passed_on(30, 42))) == Kinds{"starved"});
}

TEST_CASE("a minority of nodes that is gone, hangs or is slow is no excuse; a majority is") {
  const HistoryHeader five{.nodes = {"a:1", "b:1", "c:1", "d:1", "e:1"}};
  const auto kinds = [&](const std::string& faults) {
    const History history = told_history(with_anna(1000, passed_on(30, 42) + faults), five);
    return check(history, tell(history)).count();
  };
  CHECK(kinds("30 node 1 slowed ms 100\n 30 node 2 killed\n 31 node 3 stopped") == 1);
  CHECK(kinds("30 node 1 cut\n 30 node 2 killed\n 31 node 3 stopped") == 0);
  CHECK(kinds("30 node 1 recovering until 900\n 30 node 2 killed\n 31 node 3 stopped") == 0);
  CHECK(kinds("30 node 1 recovering until 900\n 30 node 1 killed\n 31 node 3 stopped") == 1);
  // One after another, each back before the next: all within the time to be back in line.
  CHECK(kinds("30 node 1 killed\n 31 node 1 started\n 32 node 2 killed\n 33 node 2 started\n"
              "34 node 3 killed\n 35 node 3 started") == 0);
}

TEST_CASE("a cut that is of others is no excuse") {
  const auto with_cut = [](const std::string& whom) {
    HistoryHeader three{.nodes = {"a:1", "b:1", "c:1"}};
    std::string text = header_line(three);
    for (int node = 1; node <= 2; ++node) {
      text += event_line({.at = Instant(30ms),
                          .who = fmt::format("node {}", node),
                          .what = What::cut,
                          .from = {whom}});
    }
    std::istringstream lines(with_anna(1000, passed_on(30, 42)));
    for (std::string line; std::getline(lines, line);) {
      if (line.find_first_not_of(' ') != std::string::npos) text += event_line(told_event(line));
    }
    const auto history = parse_history({{"told", text}});
    REQUIRE(history);
    return check(history.value(), tell(history.value())).count();
  };
  CHECK(with_cut("bert") == 1);
  CHECK(with_cut("anna") == 0);
}

TEST_CASE("a lock that nobody has is not waited for for more than a second") {
  CHECK(found(with_anna(1040, "")) == Kinds{});
  CHECK(told(with_anna(1040, "")).front().idle.length() == 1s);
  const Report report = judged(with_anna(1041, ""));
  REQUIRE(report.findings.size() == 1);
  CHECK(report.findings.front().text ==
        "lock \"a\": anna waited from 0.010000 s on (line 5); from 0.030000 s on nobody had it for "
        "1.001 s");
}

TEST_CASE("nodes may have it for a TTL for who could not tell them, or whom they did not hear") {
  // Who stopped within its attempt, or was killed with the lock.
  CHECK(found(with_anna(1900,
                        "30 bert asks\n35 bert stopped\n41 bert continued\n"
                        "42 bert refused because held\n")) == Kinds{});
  CHECK(found(with_anna(2900,
                        "41 bert asks\n42 bert acquired b until 900 ttl 1000\n"
                        "50 bert killed\n")) == Kinds{});
  CHECK(found(with_anna(3900,
                        "41 bert asks\n42 bert acquired b until 900 ttl 1000\n"
                        "50 bert killed\n")) == Kinds{"starved"});
  const HistoryHeader three{.nodes = {"a:1", "b:1", "c:1"}};
  const History history = told_history(
      with_anna(2900, "35 node 1 cut\n 35 node 2 cut\n 41 node 1 healed\n 41 node 2 healed\n"),
      three);
  CHECK(check(history, tell(history)).is_clean());
}

TEST_CASE("who is refused before its patience is over is found, whatever the reason") {
  const std::string early = with_anna(0, "90 anna refused because no_quorum\n");
  const Report report = judged(early);
  REQUIRE(report.findings.size() == 1);
  CHECK(report.findings.front().text ==
        "lock \"a\": anna waited from 0.010000 s on (line 5), for 1.98 s; it was refused 1.91 s "
        "before that was over (no_quorum, line 7)");
  CHECK(found("15 anna asks\n 20 anna waits until 90\n 90 anna refused because held\n") == Kinds{});
  CHECK(found("15 anna asks\n 20 anna waits\n 90 anna refused because held\n") == Kinds{});
}

TEST_CASE("a history without waits is not judged by them, and does not say so") {
  CHECK(waits("10 anna asks\n 20 anna refused because held\n").count == 0);
  const auto text_of = [](const std::string& transcript) {
    const History history = told_history(transcript);
    const Story story = tell(history);
    const Report report = check(history, story);
    return report_text(history, story, report) + report_json(history, story, report);
  };
  CHECK_THAT(text_of(passed_on(2, 10)),
             !Catch::Contains("starved.") && !Catch::Contains("in line"));
  const std::string text = text_of(with_anna(300, passed_on(2, 41)));
  CHECK_THAT(text, Catch::Contains(", nobody starved.\n"));
  CHECK_THAT(text, Catch::Contains("\n  waits in line     1 of 1 served; the longest 285 ms; "
                                   "overtaken by 2 at most; nobody had the lock for 220 ms at "
                                   "most\n"));
  CHECK_THAT(text,
             Catch::Contains(R"("waits":{"count":1,"served":1,"longest_ms":285,"overtaken":2,)"
                             R"("longest_idle_ms":220})"));
}

}  // namespace
}  // namespace redlock::drill
