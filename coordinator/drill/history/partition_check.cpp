#include "coordinator/drill/history/partition_check.h"

#include "base/text/duration_text.h"
#include "coordinator/drill/history/story.h"
#include "coordinator/quorum/quorum.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

namespace redlock::drill {
namespace {

// A lock that somebody on the other side still has is gone after a TTL; then it can be had.
constexpr double kOthersWithinTtls = 1.5;

struct Client {
  std::set<std::string> cut_from;     // nodes
  std::optional<Instant> cut_off_at;  // since when it has no quorum
  std::optional<Instant> asked_at;    // of the attempt under way
  std::optional<Instant> healed_at;   // and no lock since
};

// Walks through a history once, and keeps for each client what it can reach.
class Walk {
 public:
  Walk(const History& history, const PartitionCheckTerms& terms)
      : terms_(terms),
        began_(history.events.empty() ? Instant{} : begin_of(history.events)),
        spare_(history.header.nodes.size() - coordinator::quorum_of(history.header.nodes.size())) {
    for (const std::string& name : history.header.clients) clients_[name];
    for (const Event& event : history.events) step(event);
  }

  PartitionReport take() { return std::move(report_); }

 private:
  void step(const Event& event);
  void on_cut(const Event& event);
  void on_healed(const Event& event);
  void on_acquired(const Event& event, Client& client);
  void on_refused(const Event& event, Client& client);
  void look_at_reach(const std::string& name, Client& client, Instant at);
  void look_at_others(Instant at);
  void look_at_patience(const std::string& name, const Client& client, Instant at);
  void heal(const std::string& name, Client& client, Instant at);
  void differs(Instant at, std::string text) {
    report_.differences.push_back(fmt::format("{} (at {:.3f} s)", std::move(text),
                                              std::chrono::duration<double>(at - began_).count()));
  }
  // Whether all of an attempt lay within the time without a quorum.
  static bool was_cut_off(const Client& client) {
    return client.cut_off_at && client.asked_at && *client.asked_at >= *client.cut_off_at;
  }

  const PartitionCheckTerms& terms_;
  const Instant began_;
  const std::size_t spare_;  // so many nodes can be done without
  std::map<std::string, Client> clients_;
  std::optional<Instant> others_since_;  // some are cut off, some are not
  bool others_acquired_ = false;
  PartitionReport report_;
};

void Walk::step(const Event& event) {
  if (event.what == What::cut) return on_cut(event);
  if (event.what == What::healed) return on_healed(event);
  const auto found = clients_.find(event.who);
  if (found == clients_.end()) return;
  Client& client = found->second;
  if (event.what == What::asks) client.asked_at = event.at;
  if (event.what == What::acquired) on_acquired(event, client);
  if (event.what == What::refused) on_refused(event, client);
  if (event.what == What::killed) client.asked_at.reset();
}

void Walk::on_cut(const Event& event) {
  for (auto& [name, client] : clients_) {
    const bool is_meant = event.from.empty() ||
                          std::find(event.from.begin(), event.from.end(), name) != event.from.end();
    if (is_meant) client.cut_from.insert(event.who);
    look_at_reach(name, client, event.at);
  }
  look_at_others(event.at);
}

void Walk::on_healed(const Event& event) {
  for (auto& [name, client] : clients_) {
    client.cut_from.erase(event.who);
    look_at_reach(name, client, event.at);
  }
  look_at_others(event.at);
}

void Walk::look_at_reach(const std::string& name, Client& client, Instant at) {
  const bool is_cut_off = client.cut_from.size() > spare_;
  if (is_cut_off == client.cut_off_at.has_value()) return;
  if (!is_cut_off) return heal(name, client, at);
  ++report_.cut_off;
  client.cut_off_at = at;
  client.healed_at.reset();
}

// Of a client that was cut off: it is told so, or healed.
void Walk::look_at_patience(const std::string& name, const Client& client, Instant at) {
  const Duration waited = at - *client.asked_at;
  if (waited <= terms_.attempt_max) return;
  differs(at, fmt::format("{} was cut off, and not told so for {}", name, spoken_duration(waited)));
}

void Walk::heal(const std::string& name, Client& client, Instant at) {
  if (was_cut_off(client)) look_at_patience(name, client, at);
  client.cut_off_at.reset();
  client.healed_at = at;
}

// Whether those who have a quorum went on while others had none.
void Walk::look_at_others(Instant at) {
  const auto cut_off = static_cast<std::size_t>(
      std::count_if(clients_.begin(), clients_.end(),
                    [](const auto& client) { return client.second.cut_off_at.has_value(); }));
  const bool some = cut_off > 0 && cut_off < clients_.size();
  if (some == others_since_.has_value()) return;
  if (some) {
    others_since_ = at;
    others_acquired_ = false;
    return;
  }
  const auto within = std::chrono::duration_cast<Duration>(terms_.ttl * kOthersWithinTtls);
  if (!others_acquired_ && at - *others_since_ >= within) {
    differs(at, fmt::format("nobody got a lock for {}, though some clients had a quorum",
                            spoken_duration(at - *others_since_)));
  }
  others_since_.reset();
}

void Walk::on_acquired(const Event& event, Client& client) {
  if (was_cut_off(client)) {
    differs(event.at, fmt::format("{} got {} without a quorum", event.who, event.lock));
  }
  if (others_since_ && !client.cut_off_at) {
    others_acquired_ = true;
    ++report_.acquired_by_others;
  }
  if (client.healed_at) {
    report_.back_within = std::max(report_.back_within, event.at - *client.healed_at);
    client.healed_at.reset();
  }
  client.asked_at.reset();
}

void Walk::on_refused(const Event& event, Client& client) {
  if (was_cut_off(client)) {
    ++report_.refused;
    report_.refused_within = std::max(report_.refused_within, event.at - *client.asked_at);
    look_at_patience(event.who, client, event.at);
  }
  client.asked_at.reset();
}

}  // namespace

PartitionReport check_partitions(const History& history, const PartitionCheckTerms& terms) {
  return Walk(history, terms).take();
}

std::string PartitionReport::text() const {
  return fmt::format(
      "{} times a client was cut off from a quorum: {} attempts were refused meanwhile, the "
      "slowest after {}, and others got {} locks; after the healing a client had its next lock "
      "within {}",
      cut_off, refused, spoken_duration(refused_within), acquired_by_others,
      spoken_duration(back_within));
}

}  // namespace redlock::drill
