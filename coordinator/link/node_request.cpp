#include "coordinator/link/node_request.h"

#include "base/invariant.h"
#include "coordinator/link/scripts.h"
#include "protocol/resp/request_writer.h"

#include <array>
#include <charconv>
#include <initializer_list>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace redlock::coordinator {
namespace {

using protocol::OutputBuffer;
using protocol::write_request;

// A number as a word of a request; lives as long as the statement that needs it.
class Number {
 public:
  explicit Number(std::int64_t number)
      : end_(std::to_chars(digits_.data(), digits_.data() + digits_.size(), number).ptr) {}
  std::string_view view() const {
    return {digits_.data(), static_cast<std::size_t>(end_ - digits_.data())};
  }

 private:
  std::array<char, 20> digits_;
  char* end_;
};

void write(std::initializer_list<std::string_view> words, OutputBuffer& out) {
  write_request(protocol::Request(words.begin(), words.size()), out);
}

void write_words(const std::vector<std::string>& words, OutputBuffer& out) {
  const std::vector<std::string_view> views(words.begin(), words.end());
  write_request(protocol::Request(views), out);
}

struct ScriptCall {
  std::string_view command;
  std::string_view script;

  ScriptCall(const NodeScript& known, ScriptForm form)
      : command(form == ScriptForm::by_sha ? "EVALSHA" : "EVAL"),
        script(form == ScriptForm::by_sha ? known.sha : known.text) {}
};

// LOCK.ACQUIRE … [LABEL text], LOCK.EXTEND … [TOKEN t [LABEL text]].
void write_grant(const NodeRequest& request, OutputBuffer& out) {
  const Claim& claim = *request.claim;
  const Number ttl(ceil_ms(request.ttl));
  const Number token(static_cast<std::int64_t>(request.token));
  const bool is_extension = request.kind == RequestKind::extend;
  std::array<std::string_view, 9> words = {is_extension ? "LOCK.EXTEND" : "LOCK.ACQUIRE",
                                           claim.name, claim.value, "PX", ttl.view()};
  std::size_t count = 5;
  const auto add = [&](std::string_view name, std::string_view value) {
    words[count++] = name;
    words[count++] = value;
  };
  if (is_extension && request.tops_up) add("TOKEN", token.view());
  if (request.tells_label && (!is_extension || request.tops_up)) add("LABEL", claim.label);
  write_request(protocol::Request(words.data(), count), out);
}

void write_replacement(const NodeRequest& request, OutputBuffer& out) {
  const Claim& claim = *request.claim;
  const Number ttl(ceil_ms(request.ttl));
  const std::array<std::string_view, 7> words = {
      "LOCK.REPLACE", claim.name, claim.value, claim.next, "PX", ttl.view(), "SHORTEN"};
  write_request(protocol::Request(words).first(request.shortens ? 7 : 6), out);
}

void write_wait(const NodeRequest& request, OutputBuffer& out) {
  const Number ms(ceil_ms(request.ttl));
  if (!request.ticket) {
    return write({"LOCK.WAIT", request.claim->name, ms.view(), "PUSH"}, out);
  }
  const std::string ticket = wait_ticket_text(*request.ticket);
  write({"LOCK.WAIT", request.claim->name, ms.view(), "PUSH", "AT", ticket}, out);
}

void write_release(const Claim& claim, ReleaseKind kind, OutputBuffer& out) {
  switch (kind) {
    case ReleaseKind::plain:
      return write({"LOCK.RELEASE", claim.name, claim.value}, out);
    case ReleaseKind::final:
      return write({"LOCK.RELEASE", claim.name, claim.value, "FINAL"}, out);
    case ReleaseKind::undo:
      return write({"LOCK.RELEASE", claim.name, claim.value, "UNDO"}, out);
    case ReleaseKind::prefix:
      return write({"LOCK.RELEASE", claim.name, claim.value, "PREFIX"}, out);
  }
}

// A redlock-node's own commands.
void write_for_redlock_node(const NodeRequest& request, OutputBuffer& out) {
  const Claim* claim = request.claim.get();
  const Number ttl(ceil_ms(request.ttl));
  const Number token(static_cast<std::int64_t>(request.token));
  switch (request.kind) {
    case RequestKind::acquire:
    case RequestKind::extend:
      return write_grant(request, out);
    case RequestKind::shorten:
      return write({"SET", claim->name, claim->value, "IFEQ", claim->value, "PX", ttl.view()}, out);
    case RequestKind::replace:
      return write_replacement(request, out);
    case RequestKind::release:
      return write_release(*claim, request.release, out);
    case RequestKind::confirm:
      return write({"LOCK.CONFIRM", claim->name, claim->value, token.view()}, out);
    case RequestKind::wait:
      return write_wait(request, out);
    case RequestKind::get:
      return write({"GET", claim->name}, out);
    case RequestKind::holder:
      return write({"LOCK.HOLDER", claim->name}, out);
    case RequestKind::read:
      return write({"LOCK.HOLDER", claim->name, "VOTE"}, out);
    case RequestKind::info:
      return write({"INFO"}, out);
    case RequestKind::status:
      return write({"LOCK.STATUS"}, out);
    case RequestKind::fence_read:
      return write({"LOCK.FENCE", "READ"}, out);
    case RequestKind::fence_admit:
      return write({"LOCK.FENCE", "ADMIT", token.view(), "BEYOND"}, out);
    case RequestKind::scan:
    case RequestKind::group:
    case RequestKind::subscribe:
    case RequestKind::publish:
      return write_words(*request.words, out);
  }
}

// What any Redis understands.
void write_for_plain_redis(const NodeRequest& request, ScriptForm form, OutputBuffer& out) {
  const Claim* claim = request.claim.get();
  const Number ttl(ceil_ms(request.ttl));
  switch (request.kind) {
    case RequestKind::acquire:
      return write({"SET", claim->name, claim->value, "NX", "PX", ttl.view()}, out);
    case RequestKind::extend: {
      const ScriptCall call(request.tops_up ? kTopUpScript : kExtendScript, form);
      return write({call.command, call.script, "1", claim->name, claim->value, ttl.view()}, out);
    }
    case RequestKind::shorten: {
      const ScriptCall call(kShortenScript, form);
      return write({call.command, call.script, "1", claim->name, claim->value, ttl.view()}, out);
    }
    case RequestKind::replace: {
      const ScriptCall call(kReplaceScript, form);
      const std::string_view shortens = request.shortens ? "1" : "0";
      return write({call.command, call.script, "1", claim->name, claim->value, claim->next,
                    ttl.view(), shortens},
                   out);
    }
    case RequestKind::release: {
      const bool is_prefix = request.release == ReleaseKind::prefix;
      const ScriptCall call(is_prefix ? kReleasePrefixScript : kReleaseScript, form);
      return write({call.command, call.script, "1", claim->name, claim->value}, out);
    }
    case RequestKind::get:
      return write({"GET", claim->name}, out);
    case RequestKind::holder:
    case RequestKind::read: {
      const ScriptCall call(kHolderScript, form);
      return write({call.command, call.script, "1", claim->name}, out);
    }
    case RequestKind::scan:
    case RequestKind::subscribe:
    case RequestKind::publish:
      return write_words(*request.words, out);
    case RequestKind::info:
    case RequestKind::status:
      return write({"INFO"}, out);
    case RequestKind::confirm:
    case RequestKind::wait:
    case RequestKind::fence_read:
    case RequestKind::fence_admit:
    case RequestKind::group:
      INVARIANT(false, "a plain Redis was asked what only a redlock-node answers");
  }
}

NodeRequest group_request(std::vector<std::string> words) {
  words.insert(words.begin(), "LOCK.GROUP");
  return {.kind = RequestKind::group,
          .words = std::make_shared<const std::vector<std::string>>(std::move(words))};
}

}  // namespace

NodeRequest group_hello(const ChosenRoster& chosen) {
  return group_request({"HELLO", fmt::to_string(chosen.roster.epoch)});
}

NodeRequest group_learn(const ChosenRoster& chosen) {
  return group_request({"LEARN", roster_text(chosen.roster),
                        fmt::to_string(ceil_ms(chosen.longest)), fmt::to_string(chosen.floor)});
}

NodeRequest group_prepare(std::uint64_t epoch, const RosterBallot& ballot) {
  return group_request({"PREPARE", fmt::to_string(epoch), ballot_text(ballot)});
}

NodeRequest group_accept(const Roster& roster, const RosterBallot& ballot) {
  return group_request({"ACCEPT", ballot_text(ballot), roster_text(roster)});
}

bool can_ask(RequestKind request, NodeKind node) {
  switch (request) {
    case RequestKind::confirm:
    case RequestKind::wait:
    case RequestKind::fence_read:
    case RequestKind::fence_admit:
    case RequestKind::group:
      return node == NodeKind::redlock_node;
    default:
      return true;
  }
}

bool is_vote(RequestKind kind) {
  switch (kind) {
    case RequestKind::acquire:
    case RequestKind::extend:
    case RequestKind::shorten:
    case RequestKind::replace:
    case RequestKind::confirm:
    case RequestKind::read:
      return true;
    default:
      return false;
  }
}

void write_node_request(const NodeRequest& request, NodeKind node, ScriptForm form,
                        OutputBuffer& out) {
  if (node == NodeKind::redlock_node) return write_for_redlock_node(request, out);
  write_for_plain_redis(request, form, out);
}

}  // namespace redlock::coordinator
