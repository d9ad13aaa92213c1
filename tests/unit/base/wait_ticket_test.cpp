#include "base/wait_ticket.h"

#include <catch2/catch.hpp>

using namespace redlock;

TEST_CASE("a ticket reads back as it was written") {
  for (const WaitTicket& ticket : {WaitTicket{}, WaitTicket{1'764'178'532'000, 17},
                                   WaitTicket{kWaitTicketPartMax, kWaitTicketPartMax}}) {
    CHECK(parse_wait_ticket(wait_ticket_text(ticket)) == ticket);
  }
  CHECK(wait_ticket_text({kWaitTicketPartMax, kWaitTicketPartMax}).size() == 33);
}

TEST_CASE("what is no ticket is refused") {
  for (const char* text : {"", "-", "1", "1-", "-1", "1-1-1", "1 -1", "+1-1", "01-1", "1-01", "--1",
                           "9007199254740992-1", "1-9007199254740992", "1-99999999999999999999"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_wait_ticket(text));
  }
}

TEST_CASE("tickets are ordered by their time, then by their number") {
  CHECK(WaitTicket{1, 9} < WaitTicket{2, 0});
  CHECK(WaitTicket{2, 0} < WaitTicket{2, 1});
}

TEST_CASE("a ticket is as old as it says, and none is younger than now") {
  constexpr WallTime kNow(2500ms + 999us);
  CHECK(age_of({1000, 17}, kNow) == 1500ms);
  CHECK(age_of({2500, 0}, kNow) == 0ms);
  CHECK(age_of({kWaitTicketPartMax, 0}, kNow) == 0ms);
}
