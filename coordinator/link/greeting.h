// The first words on a connection to a node, and what they tell: who is it, which dialect does it
// speak, does it take the password?
//
//   ours, in one write             its answers
//   --------------------           -----------
//   HELLO 3 [AUTH user password]   RESP3, for the pushes of LOCK.WAIT; or "unknown command"
//   LOCK.STATUS                    a map: a redlock-node, its node_id counts it (rule Q5);
//                                  unknown or not permitted: a plain Redis
//   INFO server                    of a plain Redis: its run_id counts it
//
// A server that does not know HELLO, or not RESP3, is spoken to in RESP2. With a password that
// takes a second round, as what was sent behind the HELLO came before any AUTH and may have been
// refused for it: AUTH [user] password, LOCK.STATUS, INFO server; the first round's answers are
// read and mean nothing.
#pragma once

#include "coordinator/link/node_facts.h"
#include "coordinator/quorum/answer.h"
#include "protocol/resp/output_buffer.h"

#include <deque>
#include <optional>
#include <string>

namespace redlock::coordinator {

struct Credentials {
  std::string user;  // empty: the default user
  std::string password;

  bool given() const { return !password.empty(); }
};

class Greeting {
 public:
  // Writes the first round.
  void begin(const Credentials& credentials, protocol::OutputBuffer& out);
  // The next answer, in order; may write the second round. Returns why the connection is of no use,
  // if it is not.
  std::optional<Answer> on_reply(const Credentials& credentials, const protocol::Reply& reply,
                                 protocol::OutputBuffer& out);
  void clear() { expected_.clear(); }

  // Between begin and the last answer.
  bool is_under_way() const { return !expected_.empty(); }
  // Complete after the last answer.
  const NodeFacts& facts() const { return facts_; }
  bool speaks_resp3() const { return speaks_resp3_; }

 private:
  enum class Step : std::uint8_t { hello, auth, status, info, void_answer };

  void ask_who_it_is(protocol::OutputBuffer& out);
  std::optional<Answer> on_hello(const Credentials& credentials, const protocol::Reply& reply,
                                 protocol::OutputBuffer& out);
  std::optional<Answer> on_status(const protocol::Reply& reply);
  std::optional<Answer> on_info(const protocol::Reply& reply);

  std::deque<Step> expected_;
  NodeFacts facts_;
  bool speaks_resp3_ = false;
};

}  // namespace redlock::coordinator
