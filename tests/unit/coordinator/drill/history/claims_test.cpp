// How long a client may rely on its hold: revivals, and validities that are too long. Each finding
// has a history that shows it, and one that is a nanosecond off.
#include "tests/unit/coordinator/drill/history/judged_history.h"

namespace redlock::drill {
namespace {

// --- revivals (rule Q4) ---

TEST_CASE("a hold that is extended long after its validity is found, also with another's between") {
  const Report report = judged(R"(
      0  anna  acquired 1 token 1 until 9000 ttl 10000
   8500  anna  stopped
  10000  bert  acquired 2 asked 9500 token 2 until 19000 ttl 10000
  17000  bert  releases 2
  17500  anna  continued
  18000  anna  extended 1 until 27900
  27000  anna  releases 1
  )");
  REQUIRE(report.findings.size() == 1);
  const Finding& finding = report.findings.front();
  CHECK(finding.kind == FindingKind::revived);
  CHECK(finding.time.from == Instant(9s));
  CHECK(finding.time.length() == 9s);
  CHECK(finding.text ==
        "lock \"a\": the validity of anna (acquired at 0.000000 s, line 2) ended at 9.000000 s; it "
        "was extended 9 s later (line 7), by a request that was sent 8.902 s after that end at the "
        "earliest");
}

TEST_CASE("a revival needs nobody in between, and no TTL where its client ran") {
  const Report report = judged(R"(
      0  anna  acquired 1 token 1 until 9000
  18000  anna  extended 1 until 27900
  27000  anna  releases 1
  )");
  REQUIRE(report.counts[static_cast<std::size_t>(FindingKind::revived)] == 1);
  CHECK(report.findings[0].text ==
        "lock \"a\": the validity of anna (acquired at 0.000000 s, line 2) ended at 9.000000 s; it "
        "was extended 9 s later (line 3), and its client had run for 9 s of that");
}

TEST_CASE("an extension that began before the validity ended is no revival, one at its end is") {
  const auto extended = [](const std::string& until) {
    return found(
        "0 anna acquired 1 until 9000 ttl 10000\n 8900 anna stopped\n"
        "18000 anna continued\n 18010 anna extended 1 until " +
        until + "\n 18020 anna releases 1\n");
  };
  CHECK(extended("18997.999999") == Kinds{});  // 9 s and the 9.998 s of rule Q2
  CHECK(extended("18998") == Kinds{"revived"});
  CHECK(extended("28008") == Kinds{"revived"});  // it began when it was told, at the latest
}

TEST_CASE("the TTL is the extension's own, if it has one, and the drift is the group's") {
  const auto extended = [](const std::string& terms, double clock_drift) {
    return found(
        "0 anna acquired 1 until 9000 ttl 10000\n 8900 anna stopped\n"
        "18000 anna continued\n 18010 anna extended 1 until " +
            terms + "\n 18020 anna releases 1\n",
        clock_drift);
  };
  CHECK(extended("18897.999999", 0.01) == Kinds{});
  CHECK(extended("18898", 0.01) == Kinds{"revived"});
  CHECK(extended("28997.999999 ttl 20000", 0) == Kinds{});
  CHECK(extended("20000 ttl 20000", 0) == Kinds{});
  CHECK(extended("20000 ttl 10000", 0) == Kinds{"revived"});
}

TEST_CASE("a client that runs tells of an extension within 100 ms") {
  const auto extended = [](const std::string& when, const std::string& between = "") {
    return found("0 anna acquired 1 until 200\n" + between + when + " anna extended 1 until 900\n" +
                 "600 anna releases 1\n");
  };
  CHECK(extended("200") == Kinds{});
  CHECK(extended("299.999999") == Kinds{});
  CHECK(extended("300") == Kinds{"revived"});
  // The time in which it was stopped does not count.
  const std::string stopped = "150 anna stopped\n 400 anna continued\n";
  CHECK(extended("499.999999", stopped) == Kinds{});
  CHECK(extended("500", stopped) == Kinds{"revived"});
  const std::string twice =
      "150 anna stopped\n 250 anna continued\n 300 anna stopped\n 400 anna continued\n";
  CHECK(extended("449.999999", twice) == Kinds{});
  CHECK(extended("450", twice) == Kinds{"revived"});
  const std::string within = "250 anna stopped\n 300 anna continued\n";
  CHECK(extended("349.999999", within) == Kinds{});
  CHECK(extended("350", within) == Kinds{"revived"});
  // What was over before it does not count either, nor what is done to others.
  CHECK(extended("300", "50 anna stopped\n 90 anna continued\n 100 bert stopped\n") ==
        Kinds{"revived"});
}

TEST_CASE("a chain of extensions is judged link by link") {
  CHECK(found(R"(
      0  anna  acquired 1 until 98 ttl 100
     30  anna  extended 1 until 127
     60  anna  extended 1 until 157
    120  anna  extended 1 until 217
    130  anna  releases 1
  )") == Kinds{});
  // Stopped, so that the first was over when it was told: nobody relied on it, but it was made.
  CHECK(found(R"(
      0  anna  acquired 1 until 98 ttl 100
     30  anna  stopped
    220  anna  continued
    221  anna  extended 1 until 128
    222  anna  extended 1 until 225
    223  anna  releases 1
  )") == Kinds{});
  CHECK(found(R"(
      0  anna  acquired 1 until 98 ttl 100
     30  anna  stopped
    220  anna  continued
    221  anna  extended 1 until 128
    222  anna  extended 1 until 226
    223  anna  releases 1
  )") == Kinds{"revived"});
}

TEST_CASE("an extension may begin and be told in the last nanosecond, not at the end itself") {
  const auto extended = [](const std::string& when_and_until) {
    return found("0 anna acquired 1 until 200 ttl 302\n" + when_and_until +
                 "\n 250 anna releases 1\n");
  };
  CHECK(extended("199.999999 anna extended 1 until 499.999999") == Kinds{});
  CHECK(extended("200 anna extended 1 until 499.999999") == Kinds{});
  CHECK(extended("200 anna extended 1 until 500") == Kinds{"revived"});
  // A validity that is too long tells nothing of when its request began.
  CHECK(extended("210 anna extended 1 until 900") == Kinds{"long_validity"});
}

TEST_CASE("it is the end then in force that counts, also where an extension brought it forward") {
  CHECK(found(R"(
      0  anna  acquired 1 until 1000
    100  anna  extended 1 until 200
    400  anna  extended 1 until 900
    500  anna  releases 1
  )") == Kinds{"revived"});
  // But for one that was over when it was told: that counts for nothing.
  CHECK(found(R"(
      0  anna  acquired 1 until 200
    150  anna  extended 1 until 100
    260  anna  extended 1 until 500
    300  anna  releases 1
  )") == Kinds{});
}

TEST_CASE("what is told after a release or a loss, or is over by then, revives nothing") {
  CHECK(found(R"(
      0  anna  acquired 1 until 98 ttl 100
     90  anna  lost 1
    500  anna  extended 1 until 590
  )") == Kinds{});
  CHECK(found(R"(
      0  anna  acquired 1 until 98 ttl 100
     90  anna  releases 1
    500  anna  extended 1 until 5900
  )") == Kinds{});
  CHECK(found(R"(
      0  anna  acquired 1 until 98 ttl 100
     30  anna  stopped
    490  anna  continued
    500  anna  extended 1 until 500
  )") == Kinds{});
}

// --- the length of validities (rule Q2) ---

TEST_CASE("a validity that is longer than its TTL allows is found") {
  const Report report = judged(R"(
      5  anna  acquired 1 asked 0 token 1 until 900005 ttl 10000
    100  anna  releases 1
  )",
                               0.01);
  REQUIRE(report.findings.size() == 1);
  const Finding& finding = report.findings.front();
  CHECK(finding.kind == FindingKind::long_validity);
  CHECK(finding.time.from == Instant(5ms));
  CHECK(finding.time.length() == Duration(0));
  CHECK(finding.text ==
        "lock \"a\": anna (acquired at 0.005000 s, line 2) had a validity of 15 min left at "
        "0.005000 s (line 2); a TTL of 10 s allows 9.898 s at most");
}

TEST_CASE("a validity may be as long as the TTL less the drift allowance, and no longer") {
  const auto acquired = [](const std::string& terms, double clock_drift) {
    return found("50 anna acquired 1 asked 0 until " + terms + "\n 60 anna releases 1\n",
                 clock_drift);
  };
  CHECK(acquired("1048 ttl 1000", 0) == Kinds{});
  CHECK(acquired("1048.000001 ttl 1000", 0) == Kinds{"long_validity"});
  CHECK(acquired("1038 ttl 1000", 0.01) == Kinds{});
  CHECK(acquired("1038.000001 ttl 1000", 0.01) == Kinds{"long_validity"});
  // Of a TTL that leaves nothing no validity is right, but for one that is over.
  CHECK(found("50 anna acquired 1 until 50.000001 ttl 2\n 50.000001 anna releases 1\n") ==
        Kinds{"long_validity"});
  CHECK(found("50 anna acquired 1 until 50 ttl 1\n 51 anna releases 1\n") == Kinds{});
}

TEST_CASE("an extension's validity counts from its telling, and may stay what it was") {
  const auto extended = [](const std::string& when_and_terms) {
    return found("0 anna acquired 1 until 998 ttl 1000\n" + when_and_terms +
                 "\n 600 anna releases 1\n");
  };
  CHECK(extended("500 anna extended 1 until 1498") == Kinds{});
  CHECK(extended("500 anna extended 1 until 1498.000001") == Kinds{"long_validity"});
  CHECK(extended("500 anna extended 1 until 1498.000001 ttl 1001") == Kinds{});
  CHECK(extended("500 anna extended 1 until 998 ttl 20") == Kinds{});
  CHECK(extended("500 anna extended 1 until 998.000001 ttl 20") == Kinds{"long_validity"});
}

TEST_CASE("where no TTL is told its validity is not judged, and the hold is counted") {
  const std::string without = R"(
     10  anna  acquired 1 token 1 until 900000
     50  anna  extended 1 until 900100
     90  anna  releases 1
  )";
  const Report report = judged(without);
  CHECK(report.is_clean());
  CHECK(report.summary.without_ttl == 1);
  const Report half = judged(without + R"(
    100  anna  acquired 2 token 2 until 150 ttl 100
    140  anna  releases 2
  )");
  CHECK(half.summary.acquired == 2);
  CHECK(half.summary.without_ttl == 1);
}

}  // namespace
}  // namespace redlock::drill
