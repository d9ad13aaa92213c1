#include "coordinator/group/survey/list_operation.h"

#include <algorithm>
#include <utility>

namespace redlock::coordinator {

ListOperation::ListOperation(GroupParts& group, std::string pattern, Done done)
    : Operation(group),
      pattern_(std::move(pattern)),
      walked_(group.links.size()),
      done_(std::move(done)) {}

void ListOperation::on_nodes_changed(Instant now) {
  Operation::on_nodes_changed(now);
  next_attempt();
  start(now);
}

void ListOperation::start(Instant now) {
  const std::size_t nodes = group().links.size();
  walked_ = Ballot(nodes);
  walked_.open(now, group().options.node_timeout);
  walks_.assign(nodes, {});
  readings_.clear();
  for (NodeIndex node = 0; node < nodes; ++node) ask_for_page(node, now);
}

void ListOperation::ask_for_page(NodeIndex node, Instant now) {
  Walk& walk = walks_[node];
  walk.deadline = later(now, group().options.node_timeout);
  const std::vector<std::string> words = {"SCAN",   walk.cursor, "MATCH",
                                          pattern_, "COUNT",     std::string(kPageSize)};
  ask(node,
      {.kind = RequestKind::scan, .words = std::make_shared<const std::vector<std::string>>(words)},
      now);
}

void ListOperation::on_answer(NodeIndex node, Completion&& completion, Instant now) {
  if (walked_.answered(node)) return;
  walks_[node].deadline = later(now, group().options.node_timeout);
  if (completion.kind == RequestKind::holder) return on_holder(node, completion, now);
  if (completion.answer.kind != AnswerKind::yes) {
    return end(node, std::move(completion.answer), now);
  }
  on_page(node, completion.reply, now);
  if (walks_[node].page.empty() && walks_[node].cursor == "0") {
    end(node, std::move(completion.answer), now);
  }
}

void ListOperation::on_page(NodeIndex node, const protocol::Reply& reply, Instant now) {
  Walk& walk = walks_[node];
  walk.cursor = reply.items()[0].text();
  for (const protocol::Reply& name : reply.items()[1].items()) {
    walk.page.push_back(std::make_shared<const Claim>(Claim{std::string(name.text()), {}}));
  }
  for (const SharedClaim& name : walk.page) {
    ask(node, {.kind = RequestKind::holder, .claim = name}, now);
  }
  if (walk.page.empty() && walk.cursor != "0") ask_for_page(node, now);
}

// An error is about this one name: what it stands for is no lock, but a hash, say.
void ListOperation::on_holder(NodeIndex node, const Completion& completion, Instant now) {
  const AnswerKind kind = completion.answer.kind;
  if (kind != AnswerKind::yes && kind != AnswerKind::error) {
    return end(node, completion.answer, now);
  }
  Walk& walk = walks_[node];
  const SharedClaim name = std::move(walk.page.front());
  walk.page.pop_front();
  if (auto told = kind == AnswerKind::yes ? read_holder(completion.reply) : std::nullopt) {
    auto& of_nodes = readings_[name->name];  // a name that SCAN tells twice counts once
    of_nodes.resize(walks_.size());
    of_nodes[node] = std::move(told);
  }
  if (!walk.page.empty()) return;
  if (walk.cursor != "0") return ask_for_page(node, now);
  end(node, {.kind = AnswerKind::yes, .from = completion.answer.from}, now);
}

void ListOperation::end(NodeIndex node, Answer answer, Instant now) {
  walks_[node].deadline = kNever;
  walked_.record(node, std::move(answer), now);
}

void ListOperation::on_time(Instant now) {
  for (NodeIndex node = 0; node < walks_.size(); ++node) {
    if (now >= walks_[node].deadline) end(node, silence(group().options.node_timeout), now);
  }
}

std::optional<Instant> ListOperation::next_deadline() const {
  Instant next = kNever;
  for (const Walk& walk : walks_) next = std::min(next, walk.deadline);
  return next;
}

// Of a walk that came to no end, and of a node that was walked at another address, too (rule Q5),
// nothing counts.
void ListOperation::tell() {
  for (auto& [name, of_nodes] : readings_) {
    for (NodeIndex node = 0; node < walks_.size(); ++node) {
      if (walked_.answers()[node].kind != AnswerKind::yes) of_nodes[node].reset();
    }
  }
  done_({std::move(readings_), walked_.answers()});
}

}  // namespace redlock::coordinator
