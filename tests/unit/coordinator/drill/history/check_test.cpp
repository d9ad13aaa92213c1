// Each finding has a history that shows it, and one that is just barely fine.
#include "tests/unit/coordinator/drill/history/judged_history.h"

#include <fmt/format.h>

namespace redlock::drill {
namespace {

// --- two holders at once ---

TEST_CASE("a lock that is handed over is held by one at a time") {
  CHECK(found(R"(
     10  anna  acquired 1 token 1 until 100
     50  anna  releases 1
     50  bert  acquired 2 token 2 until 150
     90  bert  lost 2
    100  carl  acquired 3 token 3 until 200
    150  carl  releases 3
  )") == Kinds{});
}

TEST_CASE("two holders within their validity are found, with who, when and where") {
  const Report report = judged(R"(
     10  anna  acquired 1 token 1 until 100
     99  bert  acquired 2 token 2 until 150
    100  anna  releases 1
    140  bert  releases 2
  )");
  REQUIRE(report.findings.size() == 1);
  const Finding& finding = report.findings.front();
  CHECK(finding.kind == FindingKind::overlap);
  CHECK(finding.time.length() == 1ms);
  CHECK(finding.text ==
        "lock \"a\" had two holders for 1 ms, from 0.089000 s: anna (acquired at 0.000000 s, line "
        "2) and bert (acquired at 0.089000 s, line 3)");
}

TEST_CASE("a belief ends with the validity, though its client says nothing any more") {
  const std::string without_word = R"(
     10  anna  acquired 1 token 1 until 100
     90  anna  stopped
    100  bert  acquired 2 token 2 until 150
    140  bert  releases 2
    160  anna  continued
  )";
  CHECK(found(without_word) == Kinds{});
  CHECK(found(R"(
     10  anna  acquired 1 token 1 until 100
     90  anna  stopped
     99.999999 bert  acquired 2 token 2 until 150
    140  bert  releases 2
  )") == Kinds{"overlap"});
}

TEST_CASE("an extension makes the belief longer, and what is told after a release does not") {
  CHECK(found(R"(
     10  anna  acquired 1 token 1 until 100
     60  anna  extended 1 until 160
    110  bert  acquired 2 token 2 until 200
    120  anna  releases 1
    150  bert  releases 2
  )") == Kinds{"overlap"});
  CHECK(found(R"(
     10  anna  acquired 1 token 1 until 100
     60  anna  releases 1
     61  anna  extended 1 until 160
     70  bert  acquired 2 token 2 until 200
    150  bert  releases 2
  )") == Kinds{});
}

TEST_CASE("an extension that is told late leaves a time without belief before it") {
  const std::string stopped_in_between = R"(
     10  anna  acquired 1 token 1 until 100
     80  anna  stopped
    130  anna  continued
    131  anna  extended 1 until 170
    160  anna  releases 1
  )";
  CHECK(found(stopped_in_between + R"(
    105  bert  acquired 2 token 2 until 131
    130  bert  releases 2
  )") == Kinds{});
  CHECK(found(stopped_in_between + R"(
    105  bert  acquired 2 token 2 until 132
    131.5 bert  releases 2
  )") == Kinds{"overlap"});
}

TEST_CASE("holders of different locks are in nobody's way; one client's two holds are") {
  CHECK(found(R"(
     10  anna  acquired 1 of a token 1 until 100
     20  bert  acquired 2 of b token 1 until 100
     30  anna  releases 1 of a
     30  bert  releases 2 of b
  )") == Kinds{});
  CHECK(found(R"(
     10  anna  acquired 1 token 1 until 100
     20  anna  acquired 2 token 2 until 100
     30  anna  releases 1
     30  anna  releases 2
  )") == Kinds{"overlap"});
}

TEST_CASE("of three holders at once every pair is found") {
  CHECK(found(R"(
     10  anna  acquired 1 until 100
     20  bert  acquired 2 until 100
     30  carl  acquired 3 until 100
     40  anna  releases 1
     40  bert  releases 2
     40  carl  releases 3
  )") == Kinds{"overlap", "overlap", "overlap"});
}

// --- tokens ---

TEST_CASE("who asks after another has got its token gets a larger one") {
  CHECK(found(R"(
     10  anna  acquired 1 asked 5 token 7 until 100
     20  anna  releases 1
     40  bert  acquired 2 asked 30 token 8 until 100
     50  bert  releases 2
  )") == Kinds{});
  CHECK(found(R"(
     10  anna  acquired 1 asked 5 token 7 until 100
     20  anna  releases 1
     40  bert  acquired 2 asked 30 token 6 until 100
     50  bert  releases 2
  )") == Kinds{"token_order"});
}

TEST_CASE("of acquisitions that overlap any may have the larger token") {
  const std::string rest = R"(
     20  anna  releases 1
     50  bert  releases 2
  )";
  CHECK(found(R"(
     10  anna  acquired 1 asked 5 token 7 until 100
     40  bert  acquired 2 asked 10 token 6 until 100
  )" + rest) == Kinds{});
  CHECK(found(R"(
     10  anna  acquired 1 asked 5 token 7 until 100
     40  bert  acquired 2 asked 10.000001 token 6 until 100
  )" + rest) == Kinds{"token_order"});
}

TEST_CASE("the largest token counts, not the last one") {
  const Report report = judged(R"(
     10  anna  acquired 1 asked 5 token 9 until 100
     20  anna  releases 1
     25  bert  acquired 2 asked 6 token 7 until 100
     30  bert  releases 2
     40  carl  acquired 3 asked 35 token 8 until 100
     50  carl  releases 3
  )");
  REQUIRE(report.findings.size() == 1);
  CHECK(report.findings[0].text ==
        "lock \"a\": carl (acquired at 0.035000 s, line 6) asked at 0.030000 s and got token 8, no "
        "larger than the 9 of anna (acquired at 0.005000 s, line 2)");
}

TEST_CASE("two holders never have the same token; two locks may, and no token is no token") {
  const std::string rest = R"(
     20  anna  releases 1
     50  bert  releases 2
  )";
  CHECK(found(R"(
     10  anna  acquired 1 asked 5 token 7 until 100
     40  bert  acquired 2 asked 8 token 7 until 100
  )" + rest) == Kinds{"token_twice"});
  CHECK(found(R"(
     10  anna  acquired 1 of a asked 5 token 7 until 100
     20  anna  releases 1 of a
     40  bert  acquired 2 of b asked 8 token 7 until 100
     50  bert  releases 2 of b
  )") == Kinds{});
  CHECK(found(R"(
     10  anna  acquired 1 asked 5 until 100
     40  bert  acquired 2 asked 30 until 100
  )" + rest) == Kinds{});
}

// --- writes ---

constexpr const char* kPausedHolder = R"(
     10  anna  acquired 1 token 1 until 100
     20  anna  wrote 1 token 1 accepted
     30  anna  stopped
    110  bert  acquired 2 token 2 until 200
    150  anna  continued
    180  bert  releases 2
)";

TEST_CASE("a late write is refused once the next holder has written, and counted") {
  const Report report = judged(std::string(kPausedHolder) + R"(
    120  bert  wrote 2 token 2 accepted
    151  anna  wrote 1 token 1 refused
    152  anna  lost 1
  )");
  CHECK(report.is_clean());
  CHECK(report.summary.writes.late_refused == 1);
  CHECK(report.summary.writes.late_accepted == 0);
  CHECK(report.summary.writes.accepted == 2);
}

TEST_CASE("a write that is accepted after one with a larger token is found") {
  const Report report = judged(std::string(kPausedHolder) + R"(
    120  bert  wrote 2 token 2 accepted
    151  anna  wrote 1 token 1 accepted
    152  anna  lost 1
  )");
  REQUIRE(report.findings.size() == 1);
  CHECK(report.findings[0].text ==
        "lock \"a\": a write of anna with token 1 was accepted at 0.141000 s (line 9), though one "
        "of bert with token 2 had been at 0.110000 s (line 8)");
}

TEST_CASE("a late write that nobody could mind is in order, and counted") {
  const Report report = judged(R"(
     10  anna  acquired 1 token 1 until 200
    150  anna  lost 1
    199  anna  wrote 1 token 1 accepted
    201  anna  wrote 1 token 1 accepted
    210  bert  acquired 2 token 2 until 300
  )");
  CHECK(report.is_clean());
  CHECK(report.summary.writes.late_accepted == 1);  // the other one was within the validity
  CHECK(report.summary.writes.late_after_next == 0);
}

TEST_CASE("a late write before the next holder's first one is in order, and counted apart") {
  const Report report = judged(std::string(kPausedHolder) + R"(
    151  anna  wrote 1 token 1 accepted
    152  anna  lost 1
    160  bert  wrote 2 token 2 accepted
    161  bert  wrote 2 token 2 accepted
  )");
  CHECK(report.is_clean());
  CHECK(report.summary.writes.late_accepted == 1);
  CHECK(report.summary.writes.late_after_next == 1);
}

// --- losses ---

TEST_CASE("a running client must tell of a loss by the end of the validity") {
  const std::string then = "    300  bert  asks\n";
  CHECK(found("10 anna acquired 1 token 1 until 200\n 200 anna lost 1\n" + then) == Kinds{});
  CHECK(found("10 anna acquired 1 token 1 until 200\n 200.000001 anna lost 1\n" + then) ==
        Kinds{"late_loss"});
  CHECK(found("10 anna acquired 1 token 1 until 200\n 201 anna releases 1\n" + then) ==
        Kinds{"late_loss"});
  const Report never = judged("10 anna acquired 1 token 1 until 200\n" + then);
  REQUIRE(never.findings.size() == 1);
  CHECK(never.findings[0].text ==
        "lock \"a\": the validity of anna (acquired at 0.000000 s, line 2) ended at 0.190000 s "
        "while its client ran; anna never told of it");
}

TEST_CASE("a validity that outlasts the history is not judged") {
  CHECK(found("10 anna acquired 1 token 1 until 200\n 200 bert asks\n") == Kinds{});
}

TEST_CASE("a client that was stopped over the end, or just before, is not late") {
  const auto stopped = [](const std::string& from, const std::string& to) {
    return found(
        fmt::format("10 anna acquired 1 token 1 until 200\n {} anna stopped\n"
                    "{} anna continued\n 250 anna lost 1\n 300 bert asks\n",
                    from, to));
  };
  CHECK(stopped("150", "220") == Kinds{});
  CHECK(stopped("200", "220") == Kinds{});
  CHECK(stopped("50", "101") == Kinds{});             // it had less than 100 ms to tell
  CHECK(stopped("50", "100") == Kinds{"late_loss"});  // it had them
  CHECK(stopped("200.000001", "220") == Kinds{"late_loss"});
}

TEST_CASE("a client that its machine did not let run over the end is not late") {
  const auto stalled = [](const std::string& when, int ms, const std::string& before = "") {
    return found(
        fmt::format("10 anna acquired 1 token 1 until 200\n {} {} anna stalled ms {}\n"
                    "250 anna lost 1\n 300 bert asks\n",
                    before, when, ms));
  };
  CHECK(stalled("240", 60) == Kinds{});
  CHECK(stalled("150", 30) == Kinds{});
  CHECK(stalled("100", 60) == Kinds{"late_loss"});
  CHECK(stalled("240", 39) == Kinds{"late_loss"});
  // What it was stopped for is not counted once more, nor what it tells while it is stopped.
  CHECK(stalled("240", 60, "20 anna stopped\n 90 anna continued\n") == Kinds{});
  CHECK(stalled("95", 75, "20 anna stopped\n 90 anna continued\n") == Kinds{"late_loss"});
  CHECK(stalled("240", 10, "20 anna stopped\n") == Kinds{});
}

TEST_CASE("a client that was killed has nobody to tell") {
  const auto killed = [](const std::string& when) {
    return found(
        fmt::format("10 anna acquired 1 token 1 until 200\n {} anna killed\n"
                    "210 anna started\n 300 bert asks\n",
                    when));
  };
  CHECK(killed("20") == Kinds{});
  CHECK(killed("200") == Kinds{});
  CHECK(killed("200.000001") == Kinds{"late_loss"});
}

TEST_CASE("a client that acquires while it is being killed has nobody to tell either") {
  CHECK(found(R"(
      0    anna  asks
      5    anna  killed
      5.1  anna  acquired 1 asked 0 token 1 until 200
     50    anna  started
    300    bert  asks
  )") == Kinds{});
}

TEST_CASE("losses are counted by what became of their clients, with how soon they were noticed") {
  const Losses losses = judged(R"(
      0  anna  acquired 1 of a token 1 until 200
      0  bert  acquired 2 of b token 1 until 200
      0  carl  acquired 3 of c token 1 until 200
      0  dora  acquired 4 of d token 1 until 200
    150  dora  lost 4 of d
    160  anna  lost 1 of a
    170  bert  stopped
    180  carl  killed
    230  bert  continued
    237  bert  lost 2 of b
    300  anna  asks
  )")
                            .summary.losses;
  CHECK(losses.in_time == 2);
  CHECK(losses.least_ahead == 40ms);
  CHECK(losses.by_paused == 1);
  CHECK(losses.slowest_after_pause == 7ms);
  CHECK(losses.by_killed == 1);
}

TEST_CASE("a client that goes on before it is noted that it does tells its loss at once") {
  CHECK(judged(R"(
      0  anna  acquired 1 of a token 1 until 200
    170  anna  stopped
    229  anna  lost 1 of a
    230  anna  continued
    300  bert  asks
  )")
            .summary.losses.slowest_after_pause == 0ms);
}

}  // namespace
}  // namespace redlock::drill
