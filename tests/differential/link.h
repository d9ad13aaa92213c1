// One client's connection to a server, for a test that waits for every answer.
#pragma once

#include "protocol/resp/reply.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::differential {

// What came: a reply with its very bytes, or why none came.
struct Answer {
  enum class State { reply, closed, silent, broken };

  State state = State::closed;
  std::string bytes;
  protocol::Reply reply;
  std::string problem;  // of `broken`

  bool is_reply() const { return state == State::reply; }
  bool is_push() const { return is_reply() && reply.is(protocol::Reply::Kind::push); }
  // As in a transcript.
  std::string to_string() const;

  friend bool operator==(const Answer& a, const Answer& b) {
    return a.state == b.state && a.bytes == b.bytes;
  }
};

// All of them in a line; "(none)".
std::string texts_of(const std::vector<Answer>& answers);

class Link {
 public:
  // Connected, or its first answer is `closed`.
  explicit Link(const std::string& socket_path);
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  void send(std::string_view bytes);
  void end_sending();
  // The next reply or push; `silent` when none comes for long.
  Answer next();
  // All that comes until the server closes.
  std::string rest();

 private:
  bool receive();  // false: closed, or nothing came
  std::string_view pending() const { return std::string_view(received_).substr(taken_); }

  int socket_;
  std::string received_;
  std::size_t taken_ = 0;
  bool is_silent_ = false;
};

}  // namespace redlock::differential
