#include "coordinator/link/request_writer.h"

#include "base/random.h"

#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::coordinator;

namespace {

std::string text_of(const NodeRequest& request, NodeKind node, ScriptForm form) {
  protocol::OutputBuffer out;
  write_node_request(request, node, form, out);
  return out.take();
}

SharedClaim claim(std::string name, std::string value) {
  return std::make_shared<const Claim>(
      Claim{.name = std::move(name), .value = std::move(value), .label = "me", .next = "b"});
}

// One thing of the request becomes another, or nothing does.
void change(NodeRequest& request, Random& random) {
  static const std::vector<SharedClaim> claims = {claim("printer", "a"), claim("printer", "a2"),
                                                  claim("door", "a")};
  static const std::vector<RequestKind> kinds = {
      RequestKind::acquire, RequestKind::extend,  RequestKind::shorten, RequestKind::replace,
      RequestKind::release, RequestKind::confirm, RequestKind::wait,    RequestKind::holder};
  const bool flag = random.below(2) == 0;
  switch (random.below(9)) {
    case 0:
      request.claim = claims[random.below(claims.size())];
      break;
    case 1:
      request.kind = kinds[random.below(kinds.size())];
      break;
    case 2:
      request.ttl = std::chrono::milliseconds(random.below(3));
      break;
    case 3:
      request.token = random.below(3);
      break;
    case 4:
      request.tops_up = flag;
      break;
    case 5:
      request.shortens = flag;
      break;
    case 6:
      request.tells_label = flag;
      break;
    case 7:
      request.release = flag ? ReleaseKind::final : ReleaseKind::prefix;
      break;
    default:
      break;
  }
}

}  // namespace

TEST_CASE("a shared writer writes what each request is, whichever came before") {
  const auto seed = GENERATE(1u, 2u, 3u);
  CAPTURE(seed);
  Random random(seed);
  const auto flag = [&random] { return random.below(2) == 0; };
  RequestWriter writer;
  NodeRequest request;
  for (int i = 0; i < 5000; ++i) {
    change(request, random);
    if (request.claim == nullptr && request.kind != RequestKind::info) continue;
    request.ticket = flag() ? std::optional(WaitTicket{random.below(5), 1}) : std::nullopt;
    const NodeKind node = flag() ? NodeKind::redlock_node : NodeKind::plain_redis;
    const ScriptForm form = flag() ? ScriptForm::by_sha : ScriptForm::in_full;
    if (!can_ask(request.kind, node)) continue;
    protocol::OutputBuffer out;
    out.append("before");
    writer.write(request, node, form, out);
    REQUIRE(out.take() == "before" + text_of(request, node, form));
  }
}

TEST_CASE("a claim that is gone leaves no text to another at its address") {
  RequestWriter writer;
  for (const char* name : {"one", "two", "three"}) {
    const NodeRequest request{
        .kind = RequestKind::release,
        .claim = std::make_shared<const Claim>(Claim{.name = name, .value = "v"})};
    protocol::OutputBuffer out;
    writer.write(request, NodeKind::redlock_node, ScriptForm::by_sha, out);
    CHECK(out.take() == text_of(request, NodeKind::redlock_node, ScriptForm::by_sha));
  }
}
