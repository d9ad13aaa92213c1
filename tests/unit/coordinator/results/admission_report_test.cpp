#include "coordinator/results/admission_report.h"

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::coordinator;

namespace {

using Standing = Admission::Standing;
using State = Standing::State;

Standing stands(State state, Token counter = 0) {
  return {.state = state, .counter = counter, .answer = {.kind = AnswerKind::yes}};
}

Standing stands_early(Duration admit_in, bool recovering) {
  return {.state = State::early,
          .recovering = recovering,
          .admit_in = admit_in,
          .answer = {.kind = AnswerKind::yes}};
}

Standing is_down() {
  return {.answer = {.kind = AnswerKind::refused, .text = "connection refused"}};
}

std::vector<Group::Node> names(std::size_t count) {
  std::vector<Group::Node> nodes;
  for (std::size_t i = 1; i <= count; ++i) nodes.push_back({"n" + std::to_string(i), {}});
  return nodes;
}

AdmitResult result(AdmissionOutcome outcome, std::vector<Standing> nodes, Token floor = 0,
                   Token least_floor = 0) {
  return {outcome, floor, least_floor, std::move(nodes)};
}

}  // namespace

TEST_CASE("what was done is told per node") {
  const Admitted told = admitted(
      names(3), result(AdmissionOutcome::done,
                       {stands(State::fenced, 70), stands(State::admitted), is_down()}, 70));
  CHECK(told.floor == 70);
  CHECK(told.nodes[0].answer.node == "n1");
  CHECK(told.nodes[0].answer.text == "fenced already, its counter is at 70");
  CHECK(told.nodes[0].fenced);
  CHECK_FALSE(told.nodes[0].admitted);
  CHECK(told.nodes[1].answer.text == "admitted, its tokens are above 70");
  CHECK(told.nodes[1].admitted);
  CHECK(told.nodes[2].answer.text == "connection refused");
  CHECK_FALSE(told.nodes[2].fenced);
}

TEST_CASE("whoever stays unfenced is told with the reason") {
  const Error error = admission_error(
      names(3),
      result(AdmissionOutcome::refused,
             {stands_early(1500ms, false), stands_early(12s, true), stands(State::fenced)}),
      false);
  CHECK(error.code == ErrorCode::not_admitted);
  CHECK(error.text == "some nodes stay unfenced");
  CHECK(error.nodes[0].text == "unfenced, may be admitted in 1.5 s");
  CHECK(error.nodes[1].text == "recovering, may be admitted in 12.0 s");
}

TEST_CASE("without a quorum that is fenced the error names what only an operator can do") {
  const Error error = admission_error(
      names(3),
      result(AdmissionOutcome::needs_operator,
             {stands(State::unfenced), stands(State::unfenced), stands(State::fenced)}),
      false);
  CHECK(error.code == ErrorCode::not_admitted);
  CHECK(error.text.find("`redlock admit --new-group --floor N`") != std::string::npos);
  CHECK(error.nodes[0].text == "unfenced");
}

TEST_CASE("a new group that was refused says that nothing was changed, if so") {
  const auto untouched = result(AdmissionOutcome::refused,
                                {stands(State::unfenced), stands(State::fenced, 9), is_down()});
  const std::string text = admission_error(names(3), untouched, true).text;
  CHECK(text.find("nothing was changed") != std::string::npos);
  const auto quorum =
      result(AdmissionOutcome::refused,
             {stands(State::unfenced), stands(State::fenced, 9), stands(State::fenced, 9)});
  CHECK(admission_error(names(3), quorum, true).text.find("without --new-group") !=
        std::string::npos);
  Standing failed = stands(State::failed);
  failed.answer = {.kind = AnswerKind::error, .text = "ERR not admitted: the disk refuses"};
  const auto touched =
      result(AdmissionOutcome::refused, {stands(State::admitted), failed, failed}, 5);
  const Error error = admission_error(names(3), touched, true);
  CHECK(error.text == "some nodes stay unfenced");
  CHECK(error.nodes[1].text == "ERR not admitted: the disk refuses");
}

TEST_CASE("too few answers are no quorum, whoever they came from") {
  const Error down = admission_error(
      names(3), result(AdmissionOutcome::no_quorum, {is_down(), is_down(), stands(State::fenced)}),
      false);
  CHECK(down.code == ErrorCode::no_quorum);
  CHECK(down.text == "no quorum: 1 of 3 nodes voted, 2 are needed");
  const Error unknown =
      admission_error(names(3),
                      result(AdmissionOutcome::no_quorum,
                             {is_down(), stands(State::unfenced), stands(State::fenced)}),
                      false);
  CHECK(unknown.code == ErrorCode::no_quorum);
  CHECK(unknown.text == "no quorum of fenced nodes answered");
}

TEST_CASE("a counter that the others do not bear out is named, and what its operator can do") {
  Standing far = stands(State::fenced, 1ull << 52);
  far.is_far_above = true;
  const Error error =
      admission_error(names(3),
                      result(AdmissionOutcome::counters_apart,
                             {far, stands(State::fenced, 7), stands(State::unfenced)}, 1ull << 52),
                      false);
  CHECK(error.code == ErrorCode::not_admitted);
  CHECK(error.nodes[0].text == "fenced, its counter is at 4503599627370496: far above the others");
  CHECK(error.nodes[1].text == "fenced already, its counter is at 7");
  CHECK(error.text.find("nothing was changed") != std::string::npos);
  CHECK(error.text.find("--floor 4503599627370496") != std::string::npos);
}

TEST_CASE("a new group without a floor is told what a floor is, and what the nodes remember") {
  const Error error = admission_error(
      names(1), result(AdmissionOutcome::floor_needed, {stands(State::unfenced)}, 0, 174), true);
  CHECK(error.text.find("--floor N is needed") != std::string::npos);
  CHECK(error.text.find("174") != std::string::npos);
}

TEST_CASE("a floor below what the nodes tell is refused with both numbers") {
  const Error error = admission_error(
      names(1), result(AdmissionOutcome::floor_too_low, {stands(State::unfenced)}, 173, 174), true);
  CHECK(error.text.find("the floor 173 is below 174") != std::string::npos);
}
