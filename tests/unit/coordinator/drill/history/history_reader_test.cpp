// What the reader takes for a history, and what it says of anything else.
#include "coordinator/drill/history/history.h"

#include <catch2/catch.hpp>

namespace redlock::drill {
namespace {

const std::string kHeader =
    R"({"format":"redlock-history","version":1,"nodes":["a:1","b:1"],"clients":["anna","bert"]})"
    "\n";

const std::string kAcquired =
    R"({"t":20,"who":"anna","what":"acquired","lock":"l","hold":"h","asked":10,"valid_until":90})"
    "\n";

Result<History> read(const std::string& events) {
  const std::string text = kHeader + events;
  return parse_history({{"x.jsonl", text}});
}

std::string complaint(const std::string& events) {
  return read(events).error().text;
}

Event at(int time, std::string who, What what) {
  return {.at = Instant(Duration(time)), .who = std::move(who), .what = what};
}

TEST_CASE("what is written is read again, for every kind of event") {
  Event acquired = at(20, "anna", What::acquired);
  acquired.lock = "l";
  acquired.hold = "h";
  acquired.asked = Instant(10ns);
  acquired.token = 17;
  acquired.valid_until = Instant(90ns);
  acquired.ttl_ms = 30000;
  Event cut = at(30, "node 2", What::cut);
  cut.from = {"anna", "node 1"};
  cut.direction = Direction::out;
  Event slowed = at(31, "node 1", What::slowed);
  slowed.ms = 40;
  Event jumped = at(32, "node 1", What::clock_jumped);
  jumped.by_ms = -3000;
  Event recovering = at(33, "node 1", What::recovering);
  recovering.until = Instant(70ns);
  std::string lines;
  std::vector<std::string> written;
  for (const Event& event : {acquired, cut, slowed, jumped, recovering}) {
    lines += written.emplace_back(event_line(event));
  }
  for (What what = What::asks; what <= What::clock_jumped;
       what = static_cast<What>(static_cast<int>(what) + 1)) {
    if (what == What::acquired) continue;
    Event event = acquired;
    event.at = Instant(50ns);
    event.what = what;
    event.accepted = true;
    event.why = "held";
    if (!is_of_a_client(what)) event.who = "node 1";
    lines += written.emplace_back(event_line(event));
  }
  const auto history = read(lines);
  INFO(history.error().text);
  REQUIRE(history);
  REQUIRE(history.value().events.size() == written.size());
  CHECK(history.value().events.front().ttl_ms == 30000);
  for (std::size_t i = 0; i < written.size(); ++i) {
    CHECK(event_line(history.value().events[i]) == written[i]);
  }
}

TEST_CASE("the header is read, and comes back as it was written") {
  const HistoryHeader header{.title = "chaos, \"seed\" 1",
                             .clock_drift = 0.01,
                             .nodes = {"127.0.0.1:7001"},
                             .clients = {"client 1"},
                             .about = {{"seed", "1"}, {"minutes", "10"}}};
  const std::string line = header_line(header);
  const auto history = parse_history({{"x.jsonl", line}});
  REQUIRE(history);
  CHECK(header_line(history.value().header) == line);
  CHECK(history.value().header.about.at("seed") == "1");
}

TEST_CASE("events are put in the order of their times; those of one time stay as they stood") {
  const auto history = read(R"({"t":7,"who":"bert","what":"asks","lock":"l"})"
                            "\n"
                            R"({"t":5,"who":"anna","what":"asks","lock":"l"})"
                            "\n\n"
                            R"({"t":7,"who":"anna","what":"refused","lock":"l"})"
                            "\n");
  REQUIRE(history);
  std::vector<std::uint32_t> lines;
  for (const Event& event : history.value().events) lines.push_back(event.line);
  CHECK(lines == std::vector<std::uint32_t>{3, 2, 5});
}

TEST_CASE("several files make one history; places name the file") {
  const std::string first = kHeader;
  const std::string second = kAcquired;
  const std::string third =
      kHeader + R"({"t":25,"who":"anna","what":"lost","lock":"l","hold":"h"})" + "\n";
  const auto history = parse_history({{"a", first}, {"b", second}, {"c", third}});
  INFO(history.error().text);
  REQUIRE(history);
  CHECK(place_of(history.value(), history.value().events.at(0)) == "b:1");
  CHECK(place_of(history.value(), history.value().events.at(1)) == "c:2");
}

TEST_CASE("half a line at the end of a file is forgiven, and counted; in the middle it is not") {
  const std::string half = R"({"t":25,"who":"anna","wh)";
  const auto history = read(kAcquired + half);
  REQUIRE(history);
  CHECK(history.value().events.size() == 1);
  CHECK(history.value().unfinished_lines == 1);
  CHECK(complaint(half + "\n" + kAcquired) ==
        "x.jsonl:2: this is no JSON object: " + half + " (docs/history.md has the format)");
  const std::string whole = kHeader + kAcquired;
  const auto of_two_files = parse_history({{"a", whole}, {"b", half}});
  INFO(of_two_files.error().text);
  REQUIRE(of_two_files);
  CHECK(of_two_files.value().unfinished_lines == 1);
  CHECK_THAT(parse_history({{"a", half}}).error().text, Catch::Contains("no JSON object"));
}

TEST_CASE("fields of one's own begin with x_ and are passed over") {
  CHECK(read(R"({"t":5,"who":"anna","what":"asks","lock":"l","x_thread":7})"
             "\n"));
  const auto other = read(R"({"t":5,"who":"node 1","what":"killed","x_change":7})"
                          "\n");
  REQUIRE(other);
  CHECK(other.value().events.front().change.empty());
}

TEST_CASE("without any names in the header everybody may be in the events") {
  const std::string text = R"({"format":"redlock-history","version":1})"
                           "\n"
                           R"({"t":5,"who":"carl","what":"asks","lock":"l"})"
                           "\n"
                           R"({"t":6,"who":"node 9","what":"killed"})"
                           "\n";
  CHECK(parse_history({{"x.jsonl", text}}));
}

TEST_CASE("what is no history is told from its first line on") {
  const auto first_line = [](const std::string& line) {
    return parse_history({{"x.jsonl", line}}).error().text;
  };
  CHECK_THAT(first_line(""), Catch::StartsWith("x.jsonl:1: the file is empty"));
  CHECK_THAT(first_line("PK\x03\x04\n"), Catch::Contains("no JSON object"));
  CHECK_THAT(first_line(kAcquired), Catch::Contains(R"("format" must be "redlock-history")"));
  CHECK_THAT(first_line(R"({"format":"redlock-history","version":2})"
                        "\n"),
             Catch::Contains(R"("version" must be 1)"));
  CHECK_THAT(first_line(R"({"format":"redlock-history","version":1,"nodes":5})"
                        "\n"),
             Catch::Contains(R"("nodes" must be a list of addresses)"));
  CHECK_THAT(first_line(R"({"format":"redlock-history","version":1,"sed":5})"
                        "\n"),
             Catch::Contains(R"(a header has no "sed")"));
  CHECK_THAT(complaint(kHeader), Catch::StartsWith("x.jsonl:2: a header stands in the first line"));
  CHECK(parse_history({}).error().text == "there is no file to read");
}

TEST_CASE("each mistake in an event is told with its line and what to do") {
  const auto mistake = [](const std::string& rest) {
    return complaint(R"({"t":20,"who":"anna",)" + rest + "}\n");
  };
  CHECK(complaint(R"({"who":"anna","what":"asks","lock":"l"})"
                  "\n") ==
        "x.jsonl:2: an event needs \"t\": the time, a whole number of nanoseconds, from 0 to 2^62 "
        "(docs/history.md has the format)");
  CHECK_THAT(complaint(R"({"t":-1,"who":"anna","what":"asks","lock":"l"})"
                       "\n"),
             Catch::Contains(R"(needs "t")"));
  CHECK_THAT(complaint(R"({"t":4611686018427387905,"who":"anna","what":"asks","lock":"l"})"
                       "\n"),
             Catch::Contains(R"(needs "t")"));
  CHECK_THAT(complaint(R"({"t":1,"what":"asks","lock":"l"})"
                       "\n"),
             Catch::Contains(R"(needs "who")"));
  CHECK_THAT(mistake(R"("lock":"l")"), Catch::Contains(R"(needs "what")"));
  CHECK_THAT(mistake(R"("what":"aquired")"),
             Catch::Contains(R"(there is no event "aquired"; there are asks, waits, acquired)"));
  CHECK_THAT(mistake(R"("what":"asks")"), Catch::Contains(R"("asks" needs "lock": a text of)"));
  CHECK_THAT(mistake(R"("what":"asks","lock":"")"), Catch::Contains(R"("lock" must be a text of)"));
  CHECK_THAT(mistake(R"("what":"asks","lock":"l","token":1)"),
             Catch::Contains(R"("asks" has no "token"; begin names of your own with x_)"));
  CHECK_THAT(mistake(R"("what":"extended","lock":"l","hold":"h","valid_until":1.5)"),
             Catch::Contains(R"("valid_until" must be a whole number of nanoseconds)") &&
                 Catch::Contains("not 1.5"));
  CHECK_THAT(mistake(R"("what":"cut","direction":"up")"),
             Catch::Contains(R"("direction" must be "both", "in" or "out", not "up")"));
  CHECK_THAT(mistake(R"("what":"wrote","lock":"l","hold":"h","accepted":1)"),
             Catch::Contains(R"("accepted" must be true or false, not 1)"));
  CHECK_THAT(mistake(R"("what":"extended","lock":"l","hold":"h","valid_until":1,"ttl_ms":0)"),
             Catch::Contains(R"("ttl_ms" must be a whole number of milliseconds, from 1, not 0)"));
  CHECK_THAT(mistake(R"("what":"lost","lock":"l","hold":"h","ttl_ms":1000)"),
             Catch::Contains(R"("lost" has no "ttl_ms")"));
  CHECK_THAT(mistake(R"("what":"slowed","ms":-1)"), Catch::Contains(R"("ms" must be)"));
  CHECK_THAT(complaint(std::string(kHistoryLineMax, '[') + "]\n"),
             Catch::Contains("a line of 65537 bytes; at most 65536"));
}

TEST_CASE("times of two clocks are noticed when they are far apart") {
  const auto after = [](const std::string& ns) {
    return complaint("{\"t\":0,\"who\":\"anna\",\"what\":\"asks\",\"lock\":\"l\"}\n{\"t\":" + ns +
                     ",\"who\":\"anna\",\"what\":\"asks\",\"lock\":\"l\"}\n");
  };
  CHECK(after("31622400000000000").empty());
  CHECK_THAT(after("31622400000000001"),
             Catch::StartsWith("x.jsonl:3: this is more than a year after line 2: \"t\" must be"));
}

TEST_CASE("events that contradict each other are told as well") {
  CHECK_THAT(complaint(R"({"t":5,"who":"carl","what":"asks","lock":"l"})"
                       "\n"),
             Catch::StartsWith("x.jsonl:2: \"carl\" is none of the header's clients and nodes"));
  CHECK_THAT(complaint(R"({"t":5,"who":"node 3","what":"killed"})"
                       "\n"),
             Catch::Contains("(node 1 to node 2)"));
  CHECK_THAT(complaint(R"({"t":5,"who":"node 1","what":"asks","lock":"l"})"
                       "\n"),
             Catch::Contains(R"("asks" is of a client, and node 1 is a node)"));
  CHECK_THAT(complaint(kAcquired + kAcquired),
             Catch::StartsWith("x.jsonl:3: hold \"h\" was acquired before, at line 2"));
  CHECK_THAT(complaint(R"({"t":25,"who":"anna","what":"lost","lock":"l","hold":"h"})"
                       "\n"),
             Catch::StartsWith("x.jsonl:2: hold \"h\" is acquired nowhere"));
  CHECK_THAT(
      complaint(kAcquired + R"({"t":25,"who":"bert","what":"lost","lock":"l","hold":"h"})" + "\n"),
      Catch::StartsWith("x.jsonl:3: hold \"h\" is anna's, of lock \"l\" (at line 2)"));
  CHECK_THAT(
      complaint(kAcquired + R"({"t":19,"who":"anna","what":"lost","lock":"l","hold":"h"})" + "\n"),
      Catch::StartsWith("x.jsonl:3: this comes before its hold was acquired, at line 2"));
  CHECK_THAT(complaint(R"({"t":20,"who":"anna","what":"lost","lock":"l","hold":"h"})" +
                       ("\n" + kAcquired)),
             Catch::StartsWith("x.jsonl:2: this comes before its hold was acquired, at line 3"));
}

}  // namespace
}  // namespace redlock::drill
