#include "base/roster.h"

#include <catch2/catch.hpp>

using namespace redlock;
using Catch::Contains;

namespace {

std::string id(char digit) {
  return std::string(kNodeIdDigits, digit);
}

const Roster kThree{3,
                    {{id('a'), id('1'), 1, "10.0.0.1:7001"},
                     {id('b'), id('2'), 1, "/run/node.sock"},
                     {id('c'), id('3'), 3, "[::1]:7003"}}};

std::string trouble(const std::string& text) {
  const auto roster = parse_roster(text);
  return roster ? "none" : roster.error().text;
}

}  // namespace

TEST_CASE("a node id is 40 lower-case hexadecimal digits") {
  CHECK(is_node_id("0123456789abcdef0123456789abcdef01234567"));
  CHECK_FALSE(is_node_id(""));
  CHECK_FALSE(is_node_id("0123456789abcdef0123456789abcdef0123456"));
  CHECK_FALSE(is_node_id("0123456789abcdef0123456789abcdef0123456G"));
  CHECK_FALSE(is_node_id("0123456789ABCDEF0123456789abcdef01234567"));
}

TEST_CASE("a roster reads back from its text") {
  const std::string text = roster_text(kThree);
  CHECK(text == "3 " + id('a') + "," + id('1') + ",1,10.0.0.1:7001 " + id('b') + "," + id('2') +
                    ",1,/run/node.sock " + id('c') + "," + id('3') + ",3,[::1]:7003");
  CHECK(parse_roster(text).value() == kThree);
  CHECK(roster_text(Roster{}).empty());
}

TEST_CASE("a member is a node with its ledger (rule G4)") {
  REQUIRE(kThree.find(id('c'), id('3')) != nullptr);
  CHECK(kThree.find(id('c'), id('3'))->since == 3);
  CHECK(kThree.find(id('c'), id('4')) == nullptr);
  CHECK(kThree.find(id('d'), id('3')) == nullptr);
}

TEST_CASE("a roster is followed by one that differs in one member (rule G2)") {
  const auto trouble_after = [](Roster next) {
    ++next.epoch;
    return trouble_with_successor(kThree, next);
  };
  const RosterMember newcomer{id('d'), id('4'), 4, "10.0.0.4:7001"};
  Roster next = kThree;
  CHECK(trouble_after(next).empty());
  next.members[0].address = "10.0.0.9:7001";
  CHECK(trouble_after(next).empty());
  next.members.push_back(newcomer);
  CHECK(trouble_after(next).empty());
  next.members.erase(next.members.begin());
  CHECK(trouble_after(next).empty());
  next.members.erase(next.members.begin());
  CHECK_THAT(std::string(trouble_after(next)), Contains("one member at a time"));
  next.members.pop_back();
  CHECK_THAT(std::string(trouble_after(next)), Contains("one member at a time"));
}

TEST_CASE("a successor's members are members since the epoch that they came with (rule G2)") {
  Roster next = kThree;
  CHECK_THAT(std::string(trouble_with_successor(kThree, next)), Contains("not of the next epoch"));
  next.epoch = 4;
  for (const std::uint64_t since : {1u, 3u, 4u}) {
    next.members[0] = {id('a'), id('9'), since, "10.0.0.1:7001"};  // with its ledger made anew
    CHECK(trouble_with_successor(kThree, next).empty() == (since == 4));
  }
  next.members[0] = kThree.members[0];
  next.members[0].since = 4;
  CHECK_FALSE(trouble_with_successor(kThree, next).empty());
  const Roster first{1, {{id('a'), id('1'), 1, "h:1"}, {id('b'), id('2'), 1, "h:2"}}};
  CHECK(trouble_with_successor({}, first).empty());
}

TEST_CASE("what a roster may come to names whom it names since then or longer (G1)") {
  Roster later = kThree;
  later.epoch = 5;
  CHECK(descent_of(later, kThree) == Descent::same_group);
  later.members[0].address = "10.0.0.9:7001";
  later.members[1] = {id('e'), id('5'), 4, "10.0.0.5:7001"};
  later.members[2] = {id('f'), id('6'), 5, "10.0.0.6:7001"};
  CHECK(descent_of(later, kThree) == Descent::same_group);
  SECTION("nobody has stayed") {
    later.members.erase(later.members.begin());
    CHECK(descent_of(later, kThree) == Descent::unclear);
  }
  SECTION("a member since then that it does not name") {
    later.members[1].since = 3;
    CHECK(descent_of(later, kThree) == Descent::other_group);
  }
  SECTION("with another ledger") {
    later.members[0].ledger = id('9');
    CHECK(descent_of(later, kThree) == Descent::other_group);
  }
  SECTION("a member of both, since another epoch") {
    later.members[0].since = 2;
    CHECK(descent_of(later, kThree) == Descent::other_group);
  }
  SECTION("all are its own, since its first epoch") {
    const Roster other{5, {{id('7'), id('7'), 1, "10.0.0.7:7001"}}};
    CHECK(descent_of(other, kThree) == Descent::other_group);
  }
}

TEST_CASE("what is no roster is refused with what is wrong") {
  const auto member = [](char digit, const std::string& rest) {
    return id(digit) + "," + id(digit) + "," + rest;
  };
  const std::string one = member('a', "1,h:1");
  CHECK_THAT(trouble(""), Contains("begins with its epoch"));
  CHECK_THAT(trouble("0 " + one), Contains("begins with its epoch"));
  CHECK_THAT(trouble("-1 " + one), Contains("begins with its epoch"));
  CHECK_THAT(trouble("1"), Contains("at least one member"));
  CHECK_THAT(trouble("1 abc,1,h:1"), Contains("no member of a roster"));
  CHECK_THAT(trouble("1 " + id('a') + ",1,h:1"), Contains("no member of a roster"));
  CHECK_THAT(trouble("1 " + one + " " + id('b') + "," + id('a') + ",1,h:2"),
             Contains("stands there twice"));
  CHECK_THAT(trouble("1 " + member('a', "0,h:1")), Contains("no member of a roster"));
  CHECK_THAT(trouble("1 " + member('a', "1,")), Contains("no member of a roster"));
  CHECK_THAT(trouble("1 " + member('a', "1,h\t:1")), Contains("no member of a roster"));
  CHECK_THAT(trouble("1 " + one + " "), Contains("ends with its last member"));
  CHECK_THAT(trouble("1 " + one + "  " + member('b', "1,h:2")), Contains("no member of a roster"));
  CHECK_THAT(trouble("1 " + one + " " + member('a', "1,h:2")), Contains("stands there twice"));
  CHECK_THAT(trouble("1 " + one + " " + member('b', "1,h:1")), Contains("stands there twice"));
  CHECK_THAT(trouble("1 " + member('a', "2,h:1")), Contains("since a later epoch"));
}

TEST_CASE("a roster is at most as long as its place in a ledger") {
  const std::string start = "1 " + id('a') + "," + id('a') + ",1,";
  const std::string longest = start + std::string(kRosterBytesMax - start.size(), 'h');
  CHECK(trouble(longest) == "none");
  CHECK_THAT(trouble(longest + "h"), Contains("a roster of 1901 bytes: at most 1900"));
}

TEST_CASE("a ballot reads back from its text, and a larger number wins over a proposer") {
  const RosterBallot ballot{7, 0x0123456789abcdef};
  CHECK(ballot_text(ballot) == "7.0123456789abcdef");
  CHECK(parse_ballot("7.0123456789abcdef").value() == ballot);
  for (const char* text : {"", "7", "0.0123456789abcdef", "7.0123456789abcde", "7.0123456789ABCDEF",
                           "-1.0123456789abcdef", "7.0123456789abcdef0", "x.0123456789abcdef"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_ballot(text));
  }
  CHECK(RosterBallot{8, 0} > RosterBallot{7, ~std::uint64_t{0}});
  CHECK(RosterBallot{7, 2} > RosterBallot{7, 1});
}
