// StatusPage: what `redlock status` and `redlock list` tell, for browsers, kept up to date: nodes,
// the verdict, and who holds which lock.
//
//   StatusPage page(loop, {.client = [&] { return &client; }});
//   auto server = net::HttpServer::listen(loop, address, [&](std::string_view path) {
//     return page.answer(path).value_or(net::HttpResponse::not_found());
//   });
//
// It asks the nodes while somebody looks, and no longer. A lock's value, its holder's secret, is
// told to nobody; names are told as the options say. Page, style and script are made into the
// program (embed.cmake), and load nothing from elsewhere.
//
// Thread safety: none, as Loop. It outlives the servers that answer with it.
#pragma once

#include "base/net/http/http_server.h"
#include "base/net/sockets/address.h"
#include "base/net/turn/loop.h"
#include "base/net/turn/timer.h"
#include "base/text/json.h"
#include "base/time.h"
#include <redlock/client.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::coordinator {

class StatusPage {
 public:
  static constexpr Duration kInterval = 1s;
  // Who asks for /status.json again within this time is taken for somebody who looks.
  static constexpr Duration kLookedAtTime = 5s;
  // With more locks than this at a node none are listed: to read them all each second would cost
  // the nodes more than the page is worth.
  static constexpr std::int64_t kListedMax = 1000;

  enum class Names : std::uint8_t {
    no,      // locks are counted, and not listed
    hashed,  // a name is told as a number that is another one in each run
    yes,
  };
  struct Options {
    // On the page's loop; nullptr: there is none, as the system gave none. Asked for at each look.
    std::function<Client*()> client;
    bool unsafe_members = false;  // as of judge_group
    Names names = Names::yes;
    std::string title = "redlock status";
    std::function<JsonObject()> door = {};  // figures of the front door that shows it
  };

  StatusPage(net::Loop& loop, Options options);

  // word: no, hash, yes, or empty: yes at an address of this machine alone, hash at others.
  static Names names_at(const net::Address& address, std::string_view word);

  // Of "/", "/page.css", "/page.js", "/status.json" and "/events"; nullopt: another path.
  std::optional<net::HttpResponse> answer(std::string_view path);

 private:
  using States = std::vector<NodeState>;

  bool is_looked_at(Instant now) const { return events_.listeners() > 0 || now < looked_at_until_; }
  void look();
  void note_states(Client& client, const States& states);
  void note_locks(const std::vector<ListedLock>& locks);
  // nullopt: they are not listed, and why.
  void tell(const std::optional<JsonArray>& locks, std::string_view why_not);
  std::string shown(const std::string& name) const;

  const Options options_;
  const std::uint64_t hash_seed_;
  net::HttpEvents events_;
  net::Timer again_;
  bool is_asking_ = false;
  Instant looked_at_until_{};
  std::string status_;  // of the look that is under way
  std::string last_;
};

}  // namespace redlock::coordinator
