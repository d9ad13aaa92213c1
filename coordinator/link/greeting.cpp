#include "coordinator/link/greeting.h"

#include "base/invariant.h"
#include "coordinator/link/node_request.h"
#include "protocol/resp/request_writer.h"

#include <algorithm>
#include <array>

namespace redlock::coordinator {
namespace {

using protocol::OutputBuffer;
using protocol::Reply;
using protocol::Request;
using protocol::write_request;

// A protected server's refusal, a full one's, a wrong password: they are no question of dialect.
bool is_about_dialect(std::string_view error) {
  constexpr std::array<std::string_view, 3> kBeginnings = {"ERR unknown command", "NOPROTO",
                                                           "NOPERM"};
  return std::any_of(kBeginnings.begin(), kBeginnings.end(),
                     [error](std::string_view beginning) { return error.starts_with(beginning); });
}

void write_hello(const Credentials& credentials, OutputBuffer& out) {
  const std::string_view given = credentials.user;
  const std::string_view user = given.empty() ? "default" : given;
  const std::array<std::string_view, 5> words = {"HELLO", "3", "AUTH", user, credentials.password};
  write_request(Request(words).first(credentials.given() ? 5 : 2), out);
}

void write_auth(const Credentials& credentials, OutputBuffer& out) {
  const std::array<std::string_view, 3> words = {"AUTH", credentials.user, credentials.password};
  const std::array<std::string_view, 2> without_user = {"AUTH", credentials.password};
  write_request(credentials.user.empty() ? Request(without_user) : Request(words), out);
}

}  // namespace

void Greeting::begin(const Credentials& credentials, OutputBuffer& out) {
  facts_ = {};
  expected_ = {Step::hello};
  write_hello(credentials, out);
  ask_who_it_is(out);
}

void Greeting::ask_who_it_is(OutputBuffer& out) {
  const std::array<std::string_view, 1> status = {"LOCK.STATUS"};
  write_request(status, out);
  const std::array<std::string_view, 2> info = {"INFO", "server"};
  write_request(info, out);
  expected_.push_back(Step::status);
  expected_.push_back(Step::info);
}

std::optional<Answer> Greeting::on_reply(const Credentials& credentials, const Reply& reply,
                                         OutputBuffer& out) {
  INVARIANT(is_under_way(), "an answer to a greeting that is over");
  const Step step = expected_.front();
  expected_.pop_front();
  switch (step) {
    case Step::hello:
      return on_hello(credentials, reply, out);
    case Step::auth:
      if (reply.is_error()) return classify(RequestKind::info, reply);
      return std::nullopt;
    case Step::status:
      return on_status(reply);
    case Step::info:
      return on_info(reply);
    case Step::void_answer:
      break;
  }
  return std::nullopt;
}

std::optional<Answer> Greeting::on_hello(const Credentials& credentials, const Reply& reply,
                                         OutputBuffer& out) {
  speaks_resp3_ = !reply.is_error();
  if (speaks_resp3_) return std::nullopt;
  if (!is_about_dialect(reply.text())) return classify(RequestKind::info, reply);
  if (!credentials.given()) return std::nullopt;
  std::fill(expected_.begin(), expected_.end(), Step::void_answer);
  write_auth(credentials, out);
  expected_.push_back(Step::auth);
  ask_who_it_is(out);
  return std::nullopt;
}

std::optional<Answer> Greeting::on_status(const Reply& reply) {
  if (reply.is_error()) {
    if (is_about_dialect(reply.text())) return std::nullopt;  // a plain Redis: INFO tells its id
    return classify(RequestKind::info, reply);
  }
  auto status = read_node_status(reply);
  if (!status) {
    return Answer{.kind = AnswerKind::error,
                  .text = is_status_of_front_door(reply)
                              ? "it is a front door: name the nodes that it stands before"
                              : "its LOCK.STATUS is not that of a node"};
  }
  facts_ = {NodeKind::redlock_node, status->node_id, std::move(*status)};
  return std::nullopt;
}

std::optional<Answer> Greeting::on_info(const Reply& reply) {
  if (facts_.kind == NodeKind::redlock_node) return std::nullopt;
  if (reply.is_error()) return classify(RequestKind::info, reply);
  facts_.id = id_in_info(reply.text());
  if (!facts_.id.empty()) return std::nullopt;
  return Answer{.kind = AnswerKind::error, .text = "its INFO tells no run_id"};
}

}  // namespace redlock::coordinator
