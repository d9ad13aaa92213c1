#include "coordinator/serving/door_run.h"

#include "base/net/http/basic_password.h"
#include "base/net/process/system_random.h"
#include "base/net/turn/clock.h"
#include "base/version.h"
#include "coordinator/client/holder.h"
#include "coordinator/quorum/quorum.h"
#include "coordinator/serving/door_metrics.h"
#include "server/recovery/node_start.h"
#include "server/settings/setting_table.h"
#include "server/shell/node_run.h"
#include "server/shell/process_inspector.h"

#include <utility>

#include <fmt/format.h>

namespace redlock::coordinator {
namespace {

Instant monotonic_now() {
  return net::read_clock(net::ClockKind::monotonic);
}

std::vector<server::Listeners::Place> places_of(const DoorSettings& settings) {
  if (settings.listen.empty() && settings.listen_tls.empty()) {
    return server::Listeners::places(settings.door.settings);
  }
  std::vector<server::Listeners::Place> places;
  for (const net::Address& address : settings.listen) places.push_back({address});
  for (const net::Address& address : settings.listen_tls) {
    places.push_back({.address = address, .is_tls = true});
  }
  return places;
}

// CLIENT LIST and the node's own code know one unix socket.
void name_unix_socket(DoorSettings& settings) {
  for (const net::Address& address : settings.listen) {
    if (address.is_unix()) settings.door.settings.unixsocket = address.host;
  }
}

// How many took longer than the entry before and at most so long; the last has no end.
JsonArray acquisitions(const DurationBuckets& times) {
  JsonArray all;
  for (const DurationBuckets::Bucket& bucket : times.buckets()) {
    const bool is_last = bucket.up_to == DurationBuckets::kEndless;
    const auto up_to_us =
        std::chrono::duration_cast<std::chrono::microseconds>(bucket.up_to).count();
    all.add(JsonObject{{"up_to_us", is_last ? std::nullopt : std::optional(up_to_us)},
                       {"count", bucket.count}});
  }
  return all;
}

}  // namespace

DoorRun::DoorRun(net::Loop& loop, DoorSettings settings, ParsedOptions nodes, LogSink& log,
                 LogSink* audit_file)
    : loop_(loop),
      settings_(std::move(settings)),
      nodes_(std::move(nodes)),
      log_(log),
      audit_file_(audit_file),
      watchdog_(kScriptTimeMax, kScriptTimeMax) {
  name_unix_socket(settings_);
}

DoorRun::~DoorRun() = default;

Status DoorRun::open() {
  if (!settings_.listen_tls.empty() || (settings_.http && settings_.http_tls)) {
    auto tls = server::make_tls(settings_.door.settings);
    if (!tls) return tls.error();
    tls_ = std::move(tls).value();
  }
  auto listeners =
      server::Listeners::open(loop_, places_of(settings_), settings_.door.settings, tls_.get());
  if (!listeners) return listeners.error();
  listeners_ = std::move(listeners).value();
  return settings_.http ? open_page() : Done{};
}

Status DoorRun::open_page() {
  page_.emplace(loop_, StatusPage::Options{.client = settings_.page_client,
                                           .names = settings_.names,
                                           .title = "front door " + listeners_->addresses(),
                                           .door = [this] { return figures(); }});
  auto http = server::MetricsPort::open(
      loop_, {{.address = *settings_.http, .is_tls = settings_.http_tls}}, tls_.get(),
      [this](const net::HttpRequest& request, const net::Address& peer) {
        return page(request, peer);
      });
  if (!http) return http.error();
  http_ = std::move(http).value();
  log_.log(LogLevel::notice, fmt::format("a page for browsers is at {}://{}/, metrics at /metrics",
                                         settings_.http_tls ? "https" : "http", http_.addresses()));
  return Done{};
}

// No lock's name and no client's is among the metrics, and collectors have no password at nodes.
net::HttpResponse DoorRun::page(const net::HttpRequest& request, const net::Address& peer) {
  if (request.path == "/metrics") {
    return server::MetricsPort::metrics(
        door_metrics(*door_, sockets_->group(), tls_.get(), net::read_now()));
  }
  if (!may_look(request, peer)) return net::HttpResponse::failure(401);
  return page_->answer(request.path).value_or(net::HttpResponse::not_found());
}

// The page has the password of the door's clients, also one that is set later (CONFIG SET).
bool DoorRun::may_look(const net::HttpRequest& request, const net::Address& peer) {
  const protocol::AccessControl& access = door_->node().access();
  if (!access.is_required()) return true;
  const auto password = net::basic_password(request.authorization);
  if (password && access.admits("default", *password)) return true;
  if (password) door_->node().door().note_wrong_password(peer.text(), monotonic_now());
  return false;
}

JsonObject DoorRun::figures() const {
  const DoorStats& stats = door_->stats();
  return {{"clients", door_->node().sessions().all().size()},
          {"commands_under_way", door_->commands_under_way()},
          {"waiters", door_->waiters()},
          {"granted", stats.granted},
          {"extended", stats.extended},
          {"released", stats.released},
          {"released_late", stats.released_late},
          {"refused_held", stats.refused_held},
          {"no_quorum", stats.no_quorum},
          {"possible", stats.possible},
          {"undone_late", stats.undone_late},
          {"undone_gone", stats.undone_gone},
          {"acquisitions", acquisitions(stats.grant_times)},
          {"votes", votes()}};
}

// By node, as /status.json names it.
JsonArray DoorRun::votes() const {
  const Group& group = sockets_->group();
  JsonArray all;
  for (NodeIndex node = 0; node < group.size(); ++node) {
    const VoteFigures& votes = group.link(node).votes();
    all.add(JsonObject{{"node", group.nodes()[node].name},
                       {"yes", votes.yes},
                       {"no", votes.no},
                       {"none", votes.none}});
  }
  return all;
}

// What the nodes want of a door beside, such as to be admitted, is done over the links for locks.
void DoorRun::reach_nodes() {
  Group::Options messages = nodes_.group;
  messages.relays = true;
  messages.admit_unfenced = false;
  const auto alarm = [this] {
    return net::TimerDescriptor::demand(loop_, net::ClockKind::boottime);
  };
  sockets_.emplace(loop_, alarm(), std::move(nodes_.group), nodes_.places, nodes_.tls);
  message_sockets_.emplace(loop_, alarm(), std::move(messages), nodes_.places, nodes_.tls);
}

// The groups' answers come before `before_output` of their turn, so what they bring about is
// written in that very turn.
Status DoorRun::serve(Hooks hooks) {
  hooks_ = std::move(hooks);
  reach_nodes();
  const std::string& aclfile = settings_.door.settings.aclfile;
  if (!aclfile.empty()) acl_file_.emplace(aclfile);
  door_.emplace(
      sockets_->group(), message_sockets_->group(), settings_.door,
      FrontDoor::Environment{
          .inspect = server::process_inspector(settings_.config_file, listeners_->port(), true),
          .log = log_,
          .script_watch = &watchdog_,
          .stopwatch = monotonic_now,
          .random = [this](auto bytes) { random_.fill(bytes); },
          .seed = net::system_random_seed(),
          .run_id = server::random_node_id(),
          .started_at = monotonic_now(),
          .user_file = acl_file_ ? &*acl_file_ : nullptr,
          .system_random = net::system_random,
          .accept_tls =
              [this](const server::Settings& to) { return server::renew_tls(tls_.get(), to); },
          .audit_file = audit_file_});
  if (Status loaded = door_->node().load_users(); !loaded) return loaded;
  server_.emplace(loop_, *door_, *listeners_,
                  server::SessionServer::Hooks{.stopped = [this] { hooks_.ended(); },
                                               .before_output = [this] { act(&FrontDoor::act); },
                                               .behind_output =
                                                   [this] {
                                                     if (door_->has_slow())
                                                       act(&FrontDoor::act_behind_output);
                                                   }});
  sockets_->group().when_ready(holder_now(), [this] { tell_met(); });
  return Done{};
}

void DoorRun::act(void (FrontDoor::*what)(Now now, Instant holders_now)) {
  (*door_.*what)(net::read_now(), holder_now());
  sockets_->flush();
  message_sockets_->flush();
}

void DoorRun::tell_met() {
  const Group& group = sockets_->group();
  const std::size_t ready = group.ready_links();
  log_.log(LogLevel::notice, fmt::format("redlock {}: a front door at {}; {} of {} nodes answer",
                                         kRedlockVersion, addresses(), ready, group.size()));
  bool is_plain = false;
  for (NodeIndex node = 0; node < group.size(); ++node) {
    const Link& link = group.link(node);
    is_plain = is_plain || link.is_plain_redis();
    if (link.is_ready()) continue;
    log_.log(LogLevel::warning,
             fmt::format("node {}: {}", group.nodes()[node].name, answer_text(link.problem())));
  }
  if (is_plain) {
    log_.log(LogLevel::warning,
             "there are plain Redis servers among the nodes: one that restarts forgets its locks, "
             "and grants them again at once; and they give no tokens");
  }
  if (door_->settings().max_ttl <= 1ms) {
    log_.log(LogLevel::warning,
             "the acquire time and the reply time leave nothing of the nodes' max-ttl: no lock is "
             "given; shorten them, or raise max-ttl at the nodes");
  }
  const std::string& refusal = group.votes_refused();
  if (!refusal.empty()) log_.log(LogLevel::warning, refusal);
  if (!hooks_.met) return;
  if (!refusal.empty()) return hooks_.met(Met::other_group);
  hooks_.met(ready >= quorum_of(group.size()) ? Met::quorum : Met::none);
}

void DoorRun::reload() {
  if (tls_) server::renew_tls_and_tell(*tls_, door_->settings(), log_);
}

void DoorRun::stop() {
  listeners_->close();
  server_->stop();
}

}  // namespace redlock::coordinator
