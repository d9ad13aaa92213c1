#include "coordinator/page/status_page.h"

#include "base/hash.h"
#include "base/net/process/system_random.h"
#include "base/net/sockets/address.h"
#include "base/net/turn/clock.h"
#include "base/text/printable.h"
#include "coordinator/health/group_verdict.h"
#include "coordinator/health/holder_json.h"
#include "coordinator/health/status_table.h"
#include "coordinator/page/page_files.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace redlock::coordinator {
namespace {

Instant now() {
  return net::read_clock(net::ClockKind::monotonic);
}

// At the node that has most.
std::int64_t most_locks(const std::vector<NodeState>& states) {
  std::int64_t most = 0;
  for (const NodeState& state : states) most = std::max(most, state.locks.value_or(0));
  return most;
}

net::HttpResponse file(std::string_view type, std::string_view text) {
  return {.type = fmt::format("{}; charset=utf-8", type), .body = std::string(text)};
}

}  // namespace

StatusPage::Names StatusPage::names_at(const net::Address& address, std::string_view word) {
  if (word == "no") return Names::no;
  if (word == "hash") return Names::hashed;
  const auto numeric = net::numeric_socket_address(address);
  const bool is_home =
      numeric && net::is_loopback(reinterpret_cast<const sockaddr*>(&numeric.value()));
  return word == "yes" || is_home ? Names::yes : Names::hashed;
}

StatusPage::StatusPage(net::Loop& loop, Options options)
    : options_(std::move(options)),
      hash_seed_(net::system_random_seed()),
      again_(loop, net::ClockKind::monotonic, [this] { look(); }) {
  again_.keep_loop_alive(false);
}

std::optional<net::HttpResponse> StatusPage::answer(std::string_view path) {
  if (path == "/") return file("text/html", kPageHtml);
  if (path == "/page.css") return file("text/css", kPageCss);
  if (path == "/page.js") return file("text/javascript", kPageJs);
  const bool is_events = path == "/events";
  if (!is_events && path != "/status.json") return std::nullopt;
  const bool was_looked_at = is_looked_at(now());
  looked_at_until_ = later(now(), kLookedAtTime);
  if (!is_asking_ && (is_events || !was_looked_at)) again_.set(now());
  if (is_events) return net::HttpResponse::listen_to(events_);
  if (!was_looked_at || last_.empty()) return net::HttpResponse::failure(503);  // in a moment
  return file("application/json", last_ + "\n");
}

// A client that ends after the page answers what is under way with an error: nobody looks at that.
void StatusPage::look() {
  if (is_asking_ || !is_looked_at(now())) return;
  Client* client = options_.client();
  if (client == nullptr) return again_.set(later(now(), kInterval));
  is_asking_ = true;
  client->status([this, client](const Result<States, Error>& result) {
    if (result) note_states(*client, result.value());
  });
}

void StatusPage::note_states(Client& client, const States& states) {
  const GroupVerdict verdict = judge_group(states, options_.unsafe_members);
  status_ = status_object(states, verdict).text();
  if (options_.names == Names::no) return tell(std::nullopt, "names are not shown");
  if (const std::int64_t most = most_locks(states); most > kListedMax) {
    return tell(std::nullopt, fmt::format("{}, more than are listed here", most));
  }
  client.list("*", [this](const Result<std::vector<ListedLock>, Error>& result) {
    if (result) return note_locks(result.value());
    if (result.error().code != ErrorCode::stopped) tell(std::nullopt, "no quorum tells of them");
  });
}

void StatusPage::note_locks(const std::vector<ListedLock>& locks) {
  JsonArray told;
  for (const ListedLock& lock : locks) {
    const Holder& holder = lock.holder;
    JsonObject one = {{"name", shown(lock.name)},
                      {"left_ms", left_ms(holder)},
                      {"token", holder.token == 0 ? std::nullopt : std::optional(holder.token)},
                      {"nodes", holder.nodes}};
    if (!holder.label.empty()) {
      one.add("label", holder.label);
      one.add("held_ms", floor_ms(holder.held));
    }
    told.add(one);
  }
  tell(told, "");
}

std::string StatusPage::shown(const std::string& name) const {
  if (options_.names == Names::yes) return printable(name);
  return fmt::format("#{:016x}", keyed_hash(name, hash_seed_));
}

void StatusPage::tell(const std::optional<JsonArray>& locks, std::string_view why_not) {
  is_asking_ = false;
  last_ = fmt::format(R"({{"title":{},"status":{},"locks":{},"why_no_locks":{},"door":{}}})",
                      Json(options_.title).text(), status_, Json(locks).text(),
                      Json(why_not).text(), options_.door ? options_.door().text() : "null");
  events_.send(last_);
  again_.set(later(now(), kInterval));
}

}  // namespace redlock::coordinator
