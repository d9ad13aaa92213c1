// The link of a coordinator to a node that says what it likes: no request is answered twice, and
// what goes out is requests.
//
// The input: steps, each a byte and what it needs.
#include "coordinator/link/link.h"

#include "base/random.h"
#include "protocol/resp/request_parser.h"
#include "tests/fuzz/target.h"

#include <memory>
#include <set>
#include <string>

namespace redlock::fuzz {
namespace {

using namespace redlock::coordinator;
using protocol::RequestParser;

class Wire {
 public:
  void step(std::uint8_t what, std::string_view& input) {
    switch (what % 8) {
      case 0:
      case 1:
        link_.on_bytes(take_until(input, '\0'), now_);
        break;
      case 2:
        send(take_byte(input));
        break;
      case 3:
        now_ += std::chrono::milliseconds(take_byte(input) * 100);
        link_.on_time(now_);
        break;
      case 4:
        if (is_connected()) link_.on_end("connection reset by peer", now_);
        break;
      case 5:
        link_.withdraw(last_ticket_);
        break;
      default:
        go_on();
    }
    look();
  }
  void start() {
    link_.start(now_);
    go_on();
  }

 private:
  bool is_connected() const {
    return link_.state() != Link::State::idle && link_.state() != Link::State::backing_off;
  }

  void go_on() {
    if (link_.take_wish() == Link::Wish::dial) link_.on_connected(now_);
    if (link_.state() == Link::State::identified) link_.accept(now_);
  }

  void send(std::uint8_t what) {
    NodeRequest request{.operation = {++last_operation_},
                        .kind = static_cast<RequestKind>(what % 11),
                        .claim = claim_,
                        .ttl = 30s};
    request.tops_up = request.kind == RequestKind::extend && (what & 0x80) != 0;
    request.token = what;
    last_ticket_ = link_.send(std::move(request), now_);
  }

  void look() {
    std::vector<Completion> done;
    link_.take_completions(done);
    for (const Completion& one : done) {
      INVARIANT(
          one.operation.slot <= last_operation_ && answered_.insert(one.operation.slot).second,
          "an answer to nothing, or a second one");
    }
    static_cast<void>(link_.take_pushes());
    std::string_view out = link_.outgoing();
    for (RequestParser parser; !out.empty(); out.remove_prefix(parser.consumed())) {
      INVARIANT(parser.parse(out) == RequestParser::State::complete, "what is no request goes out");
    }
    link_.outgoing_written();
  }

  Random random_{1};
  Link link_{{}, random_};
  Instant now_ = Instant(1h);
  SharedClaim claim_ = std::make_shared<const Claim>(Claim{"printer", "v"});
  std::uint32_t last_operation_ = 0;
  Link::Ticket last_ticket_ = 0;
  std::set<std::uint32_t> answered_;
};

}  // namespace

void run(std::string_view input) {
  // Bytes come while there is a connection, as a shell sees to: on_bytes after an end is none.
  Wire wire;
  wire.start();
  while (!input.empty()) wire.step(take_byte(input), input);
}

}  // namespace redlock::fuzz
