// A history as a transcript: a line an event, times in milliseconds.
//
//    10  anna    acquired 1 of a asked 5 token 7 until 100 ttl 120
//    40  anna    wrote 1 token 7 accepted
//    50  node 2  recovering until 90
//
// The lock is "a" unless a line says `of`; a hold is asked for at its own time unless it says so.
#pragma once

#include "coordinator/drill/history/history.h"

#include <sstream>
#include <string>

#include <catch2/catch.hpp>

namespace redlock::drill {

inline const std::string kLock = "a";

inline Instant told_time(std::istream& line) {
  double ms = 0;
  line >> ms;
  return Instant(std::chrono::round<Duration>(std::chrono::duration<double, std::milli>(ms)));
}

inline What told_what(const std::string& name) {
  for (What what = What::asks; what <= What::clock_jumped;
       what = static_cast<What>(static_cast<int>(what) + 1)) {
    if (name == name_of(what)) return what;
  }
  FAIL("no such event: " << name);
  return What::asks;
}

inline Event told_event(const std::string& text) {
  std::istringstream line(text);
  Event event;
  std::string word;
  event.at = event.asked = told_time(line);
  line >> event.who;
  if (event.who == "node") {
    line >> word;
    event.who.append(" ").append(word);
  }
  line >> word;
  event.what = told_what(word);
  if (is_of_a_client(event.what)) event.lock = kLock;
  while (line >> word) {
    if (word == "of") {
      line >> event.lock;
    } else if (word == "asked") {
      event.asked = told_time(line);
    } else if (word == "token") {
      line >> event.token;
    } else if (word == "until") {
      event.until = event.valid_until = told_time(line);
    } else if (word == "ttl") {
      line >> event.ttl_ms;
    } else if (word == "ms") {
      line >> event.ms;
    } else if (word == "accepted") {
      event.accepted = true;
    } else if (word == "because") {
      line >> event.why;
    } else if (word == "changing") {
      line >> event.change;
    } else if (word != "refused") {
      event.hold = word;
    }
  }
  return event;
}

// Through the format and its reader, as any other history.
inline History told_history(const std::string& transcript, const HistoryHeader& header = {}) {
  std::string text = header_line(header);
  std::istringstream lines(transcript);
  for (std::string line; std::getline(lines, line);) {
    if (line.find_first_not_of(' ') != std::string::npos) text += event_line(told_event(line));
  }
  auto history = parse_history({{"told", text}});
  INFO(history.error().text);
  REQUIRE(history);
  return std::move(history.value());
}

}  // namespace redlock::drill
