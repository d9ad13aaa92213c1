// The figures of a group that changed, on histories made by hand.
#include "coordinator/drill/history/check_report.h"
#include "tests/unit/coordinator/drill/history/told_history.h"

namespace redlock::drill {
namespace {

GroupChanges changes_in(const std::string& transcript) {
  const History history = told_history(transcript);
  return check(history, tell(history)).summary.changes;
}

// A lock is wanted from 1000 to 1400 ms, and nobody has it, while a change goes on.
const std::string kGap = R"(
     900  operator  started changing x
    1000  anna      asks
    1400  anna      acquired 1 asked 1000 until 1900 ttl 500
    1410  operator  killed changing replaced
    1500  anna      releases 1
)";

TEST_CASE("changes are counted by kind, and the kills of who makes them") {
  const GroupChanges changes = changes_in(R"(
      0  operator  started changing x
     10  operator  killed
     20  operator  started changing x
     30  operator  killed because status_69
     40  operator  started changing x
     50  operator  killed changing replaced
     60  operator  started changing y
     70  operator  killed changing added
     80  operator  started changing y
     90  operator  killed changing removed
    100  anna      killed
    110  node 1    killed changing x
  )");
  CHECK(changes.replaced == 1);
  CHECK(changes.added == 1);
  CHECK(changes.removed == 1);
  CHECK(changes.kills == 1);
  CHECK(changes.longest_gap == 0ms);
}

TEST_CASE(
    "a lock that is missed while a change goes on is its matter, and not before or after it") {
  CHECK(changes_in(kGap).longest_gap == 400ms);
  CHECK(changes_in(kGap).longest_undisturbed.length() == 400ms);
  CHECK(changes_in(R"(
       0  operator  started changing x
      10  operator  killed changing added
    1000  anna      asks
    1400  anna      acquired 1 asked 1000 until 1900
    1500  operator  started changing y
    1510  operator  killed changing removed
  )")
            .longest_gap == 0ms);
  // One that goes on at the end of the history.
  CHECK(changes_in(R"(
       0  operator  started changing x
    1000  anna      asks
    1400  anna      acquired 1 asked 1000 until 1900
  )")
            .longest_gap == 400ms);
}

TEST_CASE("what has another reason is none of the change's") {
  const auto undisturbed = [](const std::string& besides) {
    const GroupChanges changes = changes_in(kGap + besides);
    CHECK(changes.longest_gap == 400ms);
    return changes.longest_undisturbed.length();
  };
  CHECK(undisturbed("1200 node 1 killed\n 1250 node 1 started\n") == 0ms);
  CHECK(undisturbed("10 node 1 stopped\n 20 node 1 continued\n") == 0ms);  // a TTL and 1 s
  CHECK(undisturbed("1200 node 1 killed changing x\n") == 400ms);
  CHECK(undisturbed("1200 node 1 recovering until 1300\n") == 400ms);
  CHECK(undisturbed("1100 bert asks\n 1150 bert killed\n") == 0ms);
  CHECK(undisturbed("1100 bert asks of b\n 1150 bert killed\n") == 400ms);
  CHECK(undisturbed("700 bert asks\n 720 bert acquired 2 asked 700 until 990 ttl 500\n"
                    "800 bert stopped\n 1500 bert continued\n") == 0ms);
}

TEST_CASE("a client is without a quorum from the attempt that fails to the next that does not") {
  const auto without = [](const std::string& transcript) {
    return changes_in("0 operator started changing x\n" + transcript).longest_without;
  };
  const std::string served = "10 anna asks\n 20 anna refused because held\n";
  const std::string fails = "100 anna asks\n 200 anna refused because no_quorum\n";
  const std::string again = "250 anna asks\n 700 anna acquired 1 asked 250 until 900 ttl 500\n";
  CHECK(without(served + fails + again).length() == 600ms);
  CHECK(without(served + fails).length() == 100ms);
  CHECK(without(fails + again).is_empty());  // it was never served
  CHECK(without(served + fails + "300 anna killed\n 400 anna started\n" + fails).length() == 100ms);
  CHECK(without(served + fails + "300 node 1 killed\n 350 node 1 started\n" + again).length() ==
        100ms);
  CHECK(without(served + fails + "300 node 1 killed changing x\n" + again).length() == 600ms);
}

TEST_CASE("a change is undisturbed when nothing else befalls a node, nor did just before") {
  const auto undisturbed = [](const std::string& besides) {
    return changes_in(kGap + besides).undisturbed;
  };
  CHECK(undisturbed("") == 1);
  CHECK(undisturbed("1200 node 1 killed changing x\n") == 1);
  CHECK(undisturbed("1200 node 1 killed\n") == 0);
  CHECK(undisturbed("10 node 1 stopped\n 20 node 1 continued\n") == 0);
  CHECK(undisturbed("1500 node 1 killed\n") == 1);
}

TEST_CASE("a report tells of changes where there were some") {
  const History history = told_history(kGap);
  const Story story = tell(history);
  const std::string text = report_text(history, story, check(history, story));
  CHECK_THAT(text, Catch::Contains("group changes     1; 1 replaced, 0 added, 0 removed; 0 kills"));
  const History without = told_history("0 anna asks\n");
  CHECK_THAT(report_text(without, tell(without), check(without, tell(without))),
             !Catch::Contains("group changes"));
}

}  // namespace
}  // namespace redlock::drill
