// A service with the session commands and nothing else, and clients of it, for transcripts:
//
//   SessionFixture service;
//   CHECK(service.client()("PING") == "+PONG");
#pragma once

#include "base/text/quoted_words.h"
#include "base/text/words.h"
#include "protocol/resp/errors.h"
#include "protocol/resp/reply_parser.h"
#include "protocol/resp/request_writer.h"
#include "protocol/session/session_commands.h"

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

namespace redlock::protocol {

class SessionFixture;

class TestClient {
 public:
  TestClient(SessionFixture& service, Session& session) : service_(service), session_(session) {}

  // Sends a line's words as a request; all replies that came to it, one a line as
  // Reply::to_string tells them.
  std::string operator()(std::string_view line);
  // Sends bytes as they are; what came back, unread.
  std::string bytes(std::string_view bytes);
  // What has come meanwhile.
  std::string received();

  Session& session() { return session_; }

 private:
  SessionFixture& service_;
  Session& session_;
};

class SessionFixture : public Service {
 public:
  TestClient client(std::string address = "127.0.0.1:40001") {
    Peer peer{std::move(address), "127.0.0.1:6379", 8, true};
    return {*this, sessions.open(std::move(peer), !access.is_required(), now.monotonic)};
  }

  // LATER is answered when the test says so, ECHO not before it is `open`; `executed` counts what
  // reached the commands.
  Reply execute(Session& session, Request words, Now at) override {
    ++executed;
    session.last_command = "NULL";
    if (equals_ignoring_case(words[0], "LATER")) return Reply::later();
    if (!open && equals_ignoring_case(words[0], "ECHO")) return Reply::postponed();
    using Run = Reply (*)(SessionCall&);
    static const std::pair<std::string_view, Run> kCommands[] = {
        {"hello", hello}, {"auth", auth}, {"select", select}, {"ping", ping},
        {"echo", echo},   {"quit", quit}, {"reset", reset}};
    static const std::pair<std::string_view, Run> kClientCommands[] = {
        {"id", client_id},
        {"getname", client_getname},
        {"setname", client_setname},
        {"setinfo", client_setinfo},
        {"info", client_info},
        {"list", client_list},
        {"kill", client_kill},
        {"reply", client_reply},
        {"no-evict", client_no_evict},
        {"no-touch", client_no_touch}};
    SessionCall call{session, sessions, access, "7.2.4", words, at};
    const bool is_client = equals_ignoring_case(words[0], "client") && words.size() > 1;
    if (is_client) {
      for (const auto& [name, run] : kClientCommands) {
        if (equals_ignoring_case(words[1], name)) return run(call);
      }
      return unknown_subcommand("client", words[1]);
    }
    for (const auto& [name, run] : kCommands) {
      if (equals_ignoring_case(words[0], name)) return run(call);
    }
    return unknown_command(words);
  }

  void expect(std::span<const Request> requests) override {
    expected += static_cast<int>(requests.size());
  }

  Sessions sessions;
  AccessControl access;
  Now now{Instant(1000s), WallTime()};
  int executed = 0;
  int expected = 0;
  bool open = true;
};

inline std::string TestClient::received() {
  std::string out;
  std::string_view bytes = session_.output().view();
  while (!bytes.empty()) {
    const ParsedReply parsed = parse_reply(bytes);
    REQUIRE(parsed.state == ParsedReply::State::complete);
    if (!out.empty()) out += '\n';
    out += parsed.reply.to_string();
    bytes.remove_prefix(parsed.consumed);
  }
  session_.output().clear();
  return out;
}

inline std::string TestClient::operator()(std::string_view line) {
  const auto words = split_quoted_words(line).value();
  const std::vector<std::string_view> views(words.begin(), words.end());
  OutputBuffer request;
  write_request(views, request);
  session_.receive(request.view(), service_.now, service_);
  return received();
}

inline std::string TestClient::bytes(std::string_view bytes) {
  session_.receive(bytes, service_.now, service_);
  std::string out(session_.output().view());
  session_.output().clear();
  return out;
}

}  // namespace redlock::protocol
