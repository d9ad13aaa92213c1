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

// The keys of some requests. The first of each is enough: few have more. Most often a request names
// the same command as the one before it, which is then not looked up again.
class LookAhead::Keys {
 public:
  void add(CommandTable& commands, Request request) {
    if (request[0] != name_) look_up(commands, request);
    if (place_ > 0 && place_ < request.size()) keys_[count_++] = request[place_];
  }

  std::span<const std::string_view> view() const { return std::span(keys_).first(count_); }

 private:
  void look_up(CommandTable& commands, Request request) {
    const CommandTable::Found found = commands.find(request);
    name_ = found.container == nullptr ? request[0] : std::string_view();
    place_ = found.entry == nullptr ? 0 : first_key_place(found.entry->command->spec);
  }

  std::array<std::string_view, LockLookup::kExpectedMax> keys_;
  std::size_t count_ = 0;
  std::string_view name_;  // of the last one's command; empty: it has subcommands
  std::size_t place_ = 0;  // of its first key, as first_key_place() has it
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
