#include "coordinator/client/c_client.h"

#include "base/time.h"

#include <string>
#include <vector>

namespace redlock::coordinator {

// The client is destroyed after the mutex is let go: its callbacks may ask for this home again.
void CHome::close() {
  if (is_in_child()) return;
  std::optional<Client> ended;
  const std::lock_guard lock(mutex_);
  ended.swap(client_);
}

namespace {

ClientOptions client_options(const char* nodes, const redlock_client_options& from) {
  ClientOptions options{.nodes = {nodes}};
  if (from.node_timeout_ms != 0) options.node_timeout = from_milliseconds(from.node_timeout_ms);
  if (from.clock_drift != 0) options.clock_drift = from.clock_drift;
  options.admit_unfenced = !from.leaves_unfenced;
  options.unsafe_members = from.unsafe_members;
  if (from.tls_ca != nullptr) options.tls_ca = from.tls_ca;
  if (from.tls_cert != nullptr) options.tls_cert = from.tls_cert;
  if (from.tls_key != nullptr) options.tls_key = from.tls_key;
  return options;
}

// What redlock_nodes* points to: rows, and the states that their texts are in.
struct CNodes : redlock_nodes {
  explicit CNodes(std::vector<NodeState> all) : redlock_nodes{}, states(std::move(all)) {
    rows.reserve(states.size());
    for (const NodeState& state : states) rows.push_back(row(state));
    count = rows.size();
    nodes = rows.data();
  }
  CNodes(const CNodes&) = delete;
  CNodes& operator=(const CNodes&) = delete;

  static redlock_node row(const NodeState& state) {
    return {.address = state.answer.node.c_str(),
            .state = state.state.c_str(),
            .cause = state.cause.c_str(),
            .version = state.version.c_str(),
            .answered = state.answer.kind == AnswerKind::yes,
            .grants = state.grants,
            .unfenced = state.fenced == false,
            .delay_left_ms = state.delay_left ? ceil_ms(*state.delay_left) : -1,
            .locks = state.locks.value_or(-1)};
  }

  std::vector<NodeState> states;
  std::vector<redlock_node> rows;
};

}  // namespace
}  // namespace redlock::coordinator

using namespace redlock;
using coordinator::CHome;
using coordinator::invalid_argument;
using coordinator::run_for_c;
using coordinator::tell;
using coordinator::tell_success;

redlock_code redlock_open(const char* nodes, const redlock_client_options* options,
                          redlock_client** client, redlock_error* error) {
  return run_for_c(error, [&] {
    if (client == nullptr) return tell(error, invalid_argument("there is no place for the client"));
    *client = nullptr;
    if (nodes == nullptr) return tell(error, invalid_argument("no nodes are named"));
    const redlock_client_options defaults{};
    auto opened =
        Client::start(coordinator::client_options(nodes, options != nullptr ? *options : defaults));
    if (!opened) return tell(error, opened.error());
    *client = new redlock_client{std::make_shared<CHome>(std::move(opened).value())};
    return tell_success(error);
  });
}

// In a forked child its memory stays: a lock of it may be in the parent's other threads' hands.
void redlock_close(redlock_client* client) {
  if (client == nullptr || client->home->is_in_child()) return;
  run_for_c(nullptr, [&] {
    client->home->close();
    return REDLOCK_OK;
  });
  delete client;
}

redlock_code redlock_status(redlock_client* client, redlock_nodes** nodes, redlock_error* error) {
  return run_for_c(error, [&] {
    if (nodes == nullptr) return tell(error, invalid_argument("there is no place for the nodes"));
    *nodes = nullptr;
    if (client == nullptr) return tell(error, invalid_argument("there is no client"));
    using States = std::vector<NodeState>;
    auto states = client->home->ask<States>(
        [](Client& of, Client::Callback<States> done) { of.status(std::move(done)); });
    if (!states) return tell(error, states.error());
    *nodes = new coordinator::CNodes(std::move(states).value());
    return tell_success(error);
  });
}

void redlock_nodes_free(redlock_nodes* nodes) {
  delete static_cast<coordinator::CNodes*>(nodes);
}
