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
      again_(loop, net::ClockKind::monotonic, [this] { look(); }),
      mailbox_(loop) {
  again_.keep_loop_alive(false);
}

StatusPage::~StatusPage() {
  client_.reset();
  mailbox_.close();
}

std::optional<net::HttpResponse> StatusPage::answer(std::string_view path) {
  if (path == "/") return file("text/html", kPageHtml);
  if (path == "/page.css") return file("text/css", kPageCss);
  if (path == "/page.js") return file("text/javascript", kPageJs);
  const bool is_events = path == "/events";
  if (!is_events && path != "/status.json") return std::nullopt;
  const bool was_looked_at = is_looked_at(now());
  looked_at_until_ = later(now(), kLookedAtTime);
  if (!is_asking_ && !was_looked_at) again_.set(std::max(now(), later(looked_at_, kInterval)));
  if (is_events) return net::HttpResponse::listen_to(events_);
  if (!was_looked_at || last_.empty()) {
    return net::HttpResponse{.status = 503, .body = "the nodes are asked now: look again in 1 s\n"};
  }
  return file("application/json", last_ + "\n");
}

void StatusPage::look() {
  if (is_asking_ || !is_looked_at(now())) return;
  looked_at_ = now();
  if (!client_) {
    ClientOptions options = options_.client;
    options.hear_everyone = true;
    options.admit_unfenced = false;
    options.unsafe_members = true;  // it wants no votes
    auto client = Client::start(options);
    if (!client) return again_.set(later(now(), kInterval));
    client_.emplace(std::move(client).value());
  }
  is_asking_ = true;
  client_->status([this](const Result<States, Error>& result) {
    if (result) return note_states(result.value());
    post(std::nullopt);
  });
}

void StatusPage::note_states(const States& states) {
  const GroupVerdict verdict = judge_group(states, options_.client.unsafe_members);
  Told told{.status = status_object(states, verdict).text()};
  const std::int64_t most = most_locks(states);
  if (options_.names == Names::no) {
    told.why_no_locks = "names are not shown";
  } else if (most > kListedMax) {
    told.why_no_locks = fmt::format("{}, more than are listed here", most);
  }
  if (!told.why_no_locks.empty()) return post(std::move(told));
  client_->list("*", [this, told = std::move(told)](
                         const Result<std::vector<ListedLock>, Error>& result) mutable {
    if (result) {
      told.locks = json_of(result.value());
      for (const ListedLock& lock : result.value()) told.name_bytes += lock.name.size();
    } else {
      told.why_no_locks = "no quorum tells of them";
    }
    post(std::move(told));
  });
}

std::string StatusPage::json_of(const std::vector<ListedLock>& locks) const {
  JsonArray all;
  for (const ListedLock& lock : locks) {
    const Holder& holder = lock.holder;
    JsonObject told = {{"name", shown(lock.name)},
                       {"left_ms", left_ms(holder)},
                       {"token", holder.token == 0 ? std::nullopt : std::optional(holder.token)},
                       {"nodes", holder.nodes}};
    if (!holder.label.empty() && options_.names == Names::yes) {
      told.add("label", holder.label);
      told.add("held_ms", floor_ms(holder.held));
    }
    all.add(told);
  }
  return all.text();
}

std::string StatusPage::shown(const std::string& name) const {
  if (options_.names != Names::yes) return fmt::format("#{:016x}", keyed_hash(name, hash_seed_));
  if (name.size() <= kNameMax) return printable(name);
  return printable(name.substr(0, kNameMax)) + "…";
}

void StatusPage::post(std::optional<Told> told) {
  mailbox_.post([this, told = std::move(told)] { end_look(told); });
}

void StatusPage::end_look(const std::optional<Told>& told) {
  is_asking_ = false;
  const std::size_t more = told ? told->name_bytes / kNameBytesASecond : 0;
  again_.set(later(looked_at_, kInterval + std::chrono::seconds(more)));
  if (!told) return;
  last_ =
      fmt::format(R"({{"title":{},"status":{},"locks":{},"why_no_locks":{},"door":{}}})",
                  Json(options_.title).text(), told->status, told->locks,
                  Json(told->why_no_locks).text(), options_.door ? options_.door().text() : "null");
  events_.send(last_);
}

}  // namespace redlock::coordinator
