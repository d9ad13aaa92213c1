#include "coordinator/quorum/ballot.h"
#include "coordinator/quorum/tally.h"

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::coordinator;

TEST_CASE("a quorum is more than half, so any two have a node in common") {
  CHECK(quorum_of(1) == 1);
  CHECK(quorum_of(3) == 2);
  CHECK(quorum_of(5) == 3);
  CHECK(quorum_of(6) == 4);
  for (std::size_t nodes = 1; nodes <= 64; ++nodes) CHECK(2 * quorum_of(nodes) > nodes);
}

TEST_CASE("a vote is won at the quorum's last yes, and lost when too few are left (rule Q1)") {
  VoteCount won(5);
  won.add_yes();
  won.add_no();
  won.add_yes();
  CHECK(won.result() == VoteResult::pending);
  won.add_yes();
  CHECK(won.result() == VoteResult::won);

  VoteCount lost(5);
  lost.add_no();
  lost.add_silent();
  CHECK(lost.result() == VoteResult::pending);
  lost.add_no();
  CHECK(lost.result() == VoteResult::lost);
  CHECK(lost.answered_result() == VoteResult::pending);
  lost.add_yes();
  CHECK(lost.answered_result() == VoteResult::won);
}

TEST_CASE("every order of every five votes ends with the same result") {
  // 3^5 ways to vote: the result at the end is what counting says, and once decided it stays.
  for (int code = 0; code < 243; ++code) {
    VoteCount votes(5);
    VoteResult decided = VoteResult::pending;
    int yes = 0;
    for (int i = 0, rest = code; i < 5; ++i, rest /= 3) {
      if (rest % 3 == 0) votes.add_yes(), ++yes;
      if (rest % 3 == 1) votes.add_no();
      if (rest % 3 == 2) votes.add_silent();
      if (decided != VoteResult::pending) CHECK(votes.result() == decided);
      decided = votes.result();
    }
    CHECK(decided == (yes >= 3 ? VoteResult::won : VoteResult::lost));
  }
}

TEST_CASE("a node that two addresses lead to votes once, whatever it says (rule Q5)") {
  const AnswerKind vote = GENERATE(AnswerKind::yes, AnswerKind::no);
  const AnswerKind other = GENERATE(AnswerKind::yes, AnswerKind::no);
  constexpr NodeIdentity kOne{1}, kTwo{2};
  Ballot ballot(5);
  ballot.open(Instant(1s), 500ms);
  CHECK(ballot.record(0, {.kind = vote, .from = kOne}, Instant(1s)));
  CHECK(ballot.record(1, {.kind = other, .from = kOne}, Instant(1s)));
  CHECK(ballot.answers()[1].kind == AnswerKind::broken);
  CHECK(ballot.votes().yes() + ballot.votes().no() == 1);
  CHECK(ballot.record(2, {.kind = other, .from = kTwo}, Instant(1s)));
  CHECK(ballot.votes().yes() + ballot.votes().no() == 2);
  CHECK(ballot.record(3, {.kind = AnswerKind::error, .from = kTwo}, Instant(1s)));
  CHECK(ballot.answers()[3].kind == AnswerKind::error);
}

TEST_CASE("nodes are in a quorum's way when those that are left are none") {
  std::vector<Answer> answers(5);
  answers[0].kind = answers[1].kind = AnswerKind::error;
  answers[0].is_limit = answers[1].is_limit = true;
  CHECK_FALSE(leave_no_quorum(answers, AnswerKind::error));
  CHECK_FALSE(is_beyond_limits(answers));
  answers[4].kind = AnswerKind::error;
  answers[4].is_limit = true;
  CHECK(leave_no_quorum(answers, AnswerKind::error));
  CHECK(is_beyond_limits(answers));
}

TEST_CASE("a quorum voted when half of the nodes and one more said yes or no") {
  std::vector<Answer> answers(4);
  answers[0].kind = AnswerKind::yes;
  answers[1].kind = AnswerKind::no;
  answers[2].kind = AnswerKind::error;
  CHECK(votes(answers) == 2);
  CHECK_FALSE(quorum_voted(answers));
  answers[3].kind = AnswerKind::no;
  CHECK(votes(answers) == 3);
  CHECK(quorum_voted(answers));
}

TEST_CASE("an answer is told in its node's words, without a code where they are a sentence") {
  const auto told = [](AnswerKind kind, const char* text) {
    return answer_text({.kind = kind, .text = text});
  };
  CHECK(told(AnswerKind::recovering, "ERR no new locks") == "no new locks");
  CHECK(told(AnswerKind::other_group, "GROUP you name epoch 1") == "you name epoch 1");
  CHECK(told(AnswerKind::other_group, "belongs to another") == "belongs to another");
  CHECK(told(AnswerKind::error, "GROUP is no word of mine") == "GROUP is no word of mine");
  CHECK(told(AnswerKind::error, "ERR out of memory") == "ERR out of memory");
  CHECK(told(AnswerKind::denied, "") == "denied");
  CHECK(told(AnswerKind::denied, "NOAUTH Authentication required.") == "wants a password");
  CHECK(told(AnswerKind::denied, "WRONGPASS invalid password") == "refuses the password");
  CHECK(told(AnswerKind::denied, "NOPERM no keys") == "NOPERM no keys");
  CHECK(told(AnswerKind::error, "NOAUTH is no word of mine") == "NOAUTH is no word of mine");
}

TEST_CASE("grants without a token are in the way of tokens, as plain Redis is") {
  std::vector<Answer> answers(5, Answer{.kind = AnswerKind::yes, .token = 7});
  NodeSet plain;
  CHECK_FALSE(leave_no_tokens(answers, plain));
  answers[0].token = answers[1].token = 0;
  CHECK_FALSE(leave_no_tokens(answers, plain));
  answers[2] = {.kind = AnswerKind::timed_out};  // may be fenced
  CHECK_FALSE(leave_no_tokens(answers, plain));
  plain.set(0);
  CHECK_FALSE(leave_no_tokens(answers, plain));
  plain.set(2);
  CHECK(leave_no_tokens(answers, plain));
}
