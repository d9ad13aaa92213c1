// What a front door says when it cannot do what a client wants. Each text begins with ERR: clients
// take anything else for a word of the protocol, and some throw. None holds a word that a client
// library reacts to, as "unknown command", for which Spring gives up its scripts for good; so a
// node's own error is never repeated unless it is free of them.
#pragma once

#include "base/time.h"
#include "coordinator/link/named_node.h"
#include "coordinator/quorum/answer.h"
#include "protocol/resp/reply.h"

#include <string>
#include <string_view>
#include <vector>

namespace redlock::coordinator {

// One line, at most this long.
inline constexpr std::size_t kDoorErrorBytesMax = 1024;

inline constexpr std::string_view kHeldByDirectClient =
    "ERR held by a client of the nodes themselves: end it there";
inline constexpr std::string_view kTooManyValues =
    "ERR this lock had as many values as a front door can count; release it first";
inline constexpr std::string_view kTooManyKeys =
    "ERR one command, script or transaction may use 64 keys at a front door: use fewer";
inline constexpr std::string_view kChangesTooOften =
    "ERR the locks changed under way, again and again: try it again";
inline constexpr std::string_view kDoneInPart =
    "ERR the locks changed under way, and this was done in part: look, and try it again";
inline constexpr std::string_view kScriptTooLong =
    "ERR the script ran for 100 ms, which is the most at a front door; nothing of it was done";
inline constexpr std::string_view kLeftOut =
    "ERR the transaction ran for 100 ms, which is the most at a front door: this command of it was "
    "left out";
inline constexpr std::string_view kCounterIsToken =
    "ERR at a front door the token of a lock takes the place of a FencedLock's counter: take the "
    "lock alone, not in MULTI or another script";
inline constexpr std::string_view kClientGone = "ERR the client has gone: its lock is given back";
inline constexpr std::string_view kTooManyWait =
    "ERR too many wait for locks at this front door already";
inline constexpr std::string_view kDoorStops = "ERR this front door is stopping: ask another one";

// Whether a client library would take a word of it for something else than an error.
bool has_telling_word(std::string_view text);

// Whether the client has to look what became of its command: it was under way at the nodes.
enum class Doubt { none, may_be_done };

// Too few nodes answered: which, and what the others said.
std::string no_quorum_text(const std::vector<NamedNode>& nodes, const std::vector<Answer>& answers,
                           Doubt doubt);
// Enough answered, and still it is open which of several holds the lock, or whether one does.
std::string cannot_be_told_text(const std::vector<NamedNode>& nodes,
                                const std::vector<Answer>& answers, Doubt doubt);
// A held lock is to get another value, and will be gone too soon for that.
std::string runs_out_text(Duration needed);
std::string too_late_text(Duration took, Duration allowed);
// The lock has its new deadline, and its client must not count on it.
std::string extended_too_late_text(Duration took, Duration allowed);
// A quorum granted, and too few of it give tokens (rule F4).
std::string unfenced_text(const std::vector<NamedNode>& nodes, const std::vector<Answer>& answers);

}  // namespace redlock::coordinator
