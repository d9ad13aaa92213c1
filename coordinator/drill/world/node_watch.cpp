#include "coordinator/drill/world/node_watch.h"

namespace redlock::drill {
namespace {

constexpr Duration kAskEvery = 100ms;
constexpr Duration kAnsweredWithin = 100ms;  // a stopped node keeps no other waiting

}  // namespace

NodeWatch::NodeWatch(Stage& stage, Recorder& recorder, const std::vector<std::string>& addresses)
    : recorder_(recorder),
      known_(addresses.size(), Known::serving),
      client_(Client::start_on(stage.loop().raw(), {.nodes = addresses,
                                                    .node_timeout = kAnsweredWithin,
                                                    .as_named = true,
                                                    .admit_unfenced = false})
                  .value()),
      next_(stage.loop(), net::ClockKind::boottime, [this] { ask(); }) {
  ask();
}

void NodeWatch::ask() {
  client_.status([this](const Result<std::vector<NodeState>, Error>& told) {
    if (!told && told.error().code == ErrorCode::stopped) return;
    if (told) hear(told.value());
    next_.set(later(net::holder_now(), kAskEvery));
  });
}

// A node that does not answer is somebody else's news.
void NodeWatch::hear(const std::vector<NodeState>& states) {
  for (std::size_t i = 0; i < states.size(); ++i) {
    const NodeState& state = states[i];
    if (state.answer.kind != AnswerKind::yes) continue;
    const bool waits = !state.grants && state.delay_left.value_or(Duration(0)) > Duration(0);
    const Known now = waits ? Known::recovering : Known::serving;
    if (known_[i] == now) continue;
    known_[i] = now;
    Event event{.who = node_name(i), .what = waits ? What::recovering : What::serving};
    if (waits) event.until = net::holder_now() + *state.delay_left;
    recorder_.tell(std::move(event));
  }
}

}  // namespace redlock::drill
