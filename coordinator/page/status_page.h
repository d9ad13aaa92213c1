// StatusPage: what `redlock status` and `redlock list` tell, for browsers, kept up to date: nodes,
// the verdict, and who holds which lock.
//
//   StatusPage page(loop, {.client = options});
//   auto server = net::HttpServer::listen(loop, address, [&](const auto& request, const auto&) {
//     return page.answer(request.path).value_or(net::HttpResponse::not_found());
//   });
//
// It asks the nodes while somebody looks, and no longer, by a client with a thread of its own: what
// is read from them, and made of it, may be large, and the loop serves others. A lock's value, its
// holder's secret, is told to nobody; names and holders are told as the options say. Page, style
// and script are made into the program (embed.cmake), and load nothing from elsewhere.
//
// Thread safety: none, as Loop. It outlives the servers that answer with it.
#pragma once

#include "base/net/http/http_server.h"
#include "base/net/sockets/address.h"
#include "base/net/turn/loop.h"
#include "base/net/turn/mailbox.h"
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
  // Of names: for each so many bytes that a look has read, the next one waits a second longer.
  static constexpr std::size_t kNameBytesASecond = 1024 * 1024;
  // Who asks for /status.json again within this time is taken for somebody who looks.
  static constexpr Duration kLookedAtTime = 5s;
  // With more locks than this at a node none are listed: to read them all each second would cost
  // the nodes more than the page is worth.
  static constexpr std::int64_t kListedMax = 500;

  // Of a name, in bytes; a longer one loses its end.
  static constexpr std::size_t kNameMax = 120;

  enum class Names : std::uint8_t {
    no,      // locks are counted, and not listed
    hashed,  // a name is told as a number that is another one in each run, and no holder
    yes,
  };
  struct Options {
    ClientOptions client;
    Names names = Names::yes;
    std::string title = "redlock status";
    std::function<JsonObject()> door = {};  // on the loop: figures of the front door that shows it
  };

  StatusPage(net::Loop& loop, Options options);
  ~StatusPage();
  StatusPage(const StatusPage&) = delete;
  StatusPage& operator=(const StatusPage&) = delete;

  // word: no, hash, yes, or empty: yes at an address of this machine alone, hash at others.
  static Names names_at(const net::Address& address, std::string_view word);

  // Of "/", "/page.css", "/page.js", "/status.json" and "/events"; nullopt: another path.
  std::optional<net::HttpResponse> answer(std::string_view path);

 private:
  using States = std::vector<NodeState>;
  // As JSON. locks: null where they are not listed, and why.
  struct Told {
    std::string status = {};
    std::string locks = "null";
    std::string why_no_locks = {};
    std::size_t name_bytes = 0;  // that were read
  };

  bool is_looked_at(Instant now) const { return events_.listeners() > 0 || now < looked_at_until_; }
  void look();
  void end_look(const std::optional<Told>& told);

  // On the client's thread.
  void note_states(const States& states);
  std::string json_of(const std::vector<ListedLock>& locks) const;
  std::string shown(const std::string& name) const;
  void post(std::optional<Told> told);

  const Options options_;
  const std::uint64_t hash_seed_;
  net::HttpEvents events_;
  net::Timer again_;
  net::Mailbox mailbox_;
  bool is_asking_ = false;
  Instant looked_at_{};  // the last look's begin
  Instant looked_at_until_{};
  std::string last_;
  std::optional<Client> client_;  // from when somebody looks; ends before all else
};

}  // namespace redlock::coordinator
