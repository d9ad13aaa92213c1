// The admission of unfenced nodes over the group's links: admission.h decides, this asks.
#include "coordinator/group/operation.h"

namespace redlock::coordinator {
namespace {

Terms terms_of(const GroupParts& group, bool is_for_people) {
  Terms terms = group.terms();
  terms.hear_everyone = terms.hear_everyone && is_for_people;
  return terms;
}

constexpr RequestKind kind_of(AdmissionQuestion question) {
  switch (question) {
    case AdmissionQuestion::look:
      return RequestKind::status;
    case AdmissionQuestion::read:
      return RequestKind::fence_read;
    case AdmissionQuestion::admit:
      break;
  }
  return RequestKind::fence_admit;
}

// A node that is fenced takes no floor (rule F6). Whoever admitted it was first.
constexpr std::string_view kFencedAlready = "ERR already fenced";

Answer not_understood() {
  return {.kind = AnswerKind::error, .text = "a plain Redis has no fencing tokens"};
}

void read_status(const protocol::Reply& reply, AdmissionReply& said) {
  const auto status = read_node_status(reply);
  if (!status) {
    said.answer = not_understood();
    return;
  }
  said.fenced = status->fenced;
  said.counter = status->counter;
  said.bound = status->bound;
  said.recovering = status->state == "recovering";
  said.admit_in = admissible_in(*status);
}

bool is_between(const protocol::Reply& number, Token least, Token most) {
  return number.is(protocol::Reply::Kind::integer) &&
         number.integer() >= static_cast<std::int64_t>(least) &&
         number.integer() <= static_cast<std::int64_t>(most);
}

// [largest counter, 1 fenced or 0 not]
void read_counter(const protocol::Reply& reply, AdmissionReply& said) {
  const auto& items = reply.items();
  const bool has_shape = reply.is(protocol::Reply::Kind::array) && items.size() == 2 &&
                         is_between(items[0], 0, kTokenMax) && is_between(items[1], 0, 1);
  if (!has_shape) {
    said.answer = {.kind = AnswerKind::error, .text = "unexpected reply " + reply.to_string()};
    return;
  }
  said.counter = static_cast<Token>(items[0].integer());
  said.fenced = items[1].integer() == 1;
}

AdmissionReply read_reply(AdmissionQuestion question, Completion completion) {
  AdmissionReply said{.to = question, .answer = std::move(completion.answer)};
  if (question == AdmissionQuestion::admit && said.answer.text.starts_with(kFencedAlready)) {
    said.answer.kind = AnswerKind::yes;
    said.fenced = true;
  }
  if (said.answer.kind != AnswerKind::yes) return said;
  if (question == AdmissionQuestion::look) read_status(completion.reply, said);
  if (question == AdmissionQuestion::read) read_counter(completion.reply, said);
  return said;
}

}  // namespace

AdmitOperation::AdmitOperation(GroupParts& group, const AdmissionPlan& plan, bool is_for_people,
                               Done done)
    : Operation(group),
      machine_(terms_of(group, is_for_people), plan),
      done_(std::move(done)),
      connections_(group.links.size()) {}

void AdmitOperation::start(Instant now) {
  for (NodeIndex node = 0; node < group().links.size(); ++node) {
    connections_[node] = group().links[node].connection();
  }
  machine_.start(now, actions_);
  after_machine(now);
}

void AdmitOperation::on_answer(NodeIndex node, Completion&& completion, Instant now) {
  if (completion.kind != kind_of(machine_.question())) return;
  if (completion.kind == RequestKind::status) {
    connections_[node] = group().links[node].connection();
  }
  machine_.on_answer(node, read_reply(machine_.question(), std::move(completion)), now, actions_);
  after_machine(now);
}

void AdmitOperation::on_time(Instant now) {
  machine_.on_time(now, actions_);
  after_machine(now);
}

// Whoever cannot be asked answers at once, which may bring the next question.
void AdmitOperation::after_machine(Instant now) {
  while (!actions_.empty()) {
    for (const Action& action : std::exchange(actions_, {})) {
      if (action.kind == Action::Kind::ask) {
        put_question(action.node, now);
      } else {
        perform({action}, {}, now);
      }
    }
  }
  if (machine_.finished()) ended_ = now;
}

void AdmitOperation::put_question(NodeIndex node, Instant now) {
  const AdmissionQuestion question = machine_.question();
  if (question == AdmissionQuestion::admit && !is_same_connection(node)) {
    const Answer answer{.kind = AnswerKind::broken,
                        .never_sent = true,
                        .text = "its connection broke: it may have been restarted"};
    return machine_.on_answer(node, {.to = question, .answer = answer}, now, actions_);
  }
  ask(node, {.kind = kind_of(question), .token = machine_.floor()}, now);
}

bool AdmitOperation::is_same_connection(NodeIndex node) const {
  const Link& link = group().links[node];
  return link.is_ready() && link.connection() == connections_[node];
}

void AdmitOperation::tell() {
  done_(machine_, ended_);
}

}  // namespace redlock::coordinator
