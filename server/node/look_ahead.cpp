#include "server/node/look_ahead.h"

#include <algorithm>
#include <array>

namespace redlock::server {

using protocol::Request;
using protocol::RequestBatch;

namespace {

// 0: it has none. Scripts are told theirs behind the script and their count.
std::size_t first_key_place(const protocol::CommandSpec& spec) {
  constexpr std::size_t kOfScripts = 3;
  return spec.has(protocol::kMovableKeys) ? kOfScripts : static_cast<std::size_t>(spec.first_key);
}

}  // namespace

// The keys of some requests. The first of each is enough: few have more.
class LookAhead::Keys {
 public:
  void add(CommandTable& commands, Request request) {
    const CommandTable::Entry* entry = commands.find(request).entry;
    if (entry == nullptr) return;
    const std::size_t place = first_key_place(entry->command->spec);
    if (place > 0 && place < request.size()) keys_[count_++] = request[place];
  }

  std::span<const std::string_view> view() const { return std::span(keys_).first(count_); }

 private:
  std::array<std::string_view, LockLookup::kExpectedMax> keys_;
  std::size_t count_ = 0;
};

void LookAhead::expect(std::span<const Request> requests) const {
  if (!locks_.is_worth_expecting()) return;
  Keys keys;
  for (const Request request : requests.first(std::min(requests.size(), kExpectedMax))) {
    keys.add(commands_, request);
  }
  locks_.expect(keys.view());
}

void LookAhead::expect_first_of(std::span<const std::string_view> received) const {
  if (!locks_.is_worth_expecting()) return;
  Keys keys;
  RequestBatch batch;
  for (const std::string_view bytes : received.first(std::min(received.size(), kExpectedMax))) {
    if (batch.read(bytes, 1) > 0) keys.add(commands_, batch[0]);
  }
  locks_.expect(keys.view());
}

}  // namespace redlock::server
