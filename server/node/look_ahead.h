// LookAhead: has memory fetch the locks that will be looked at next, before they are.
//
// A node with many locks waits for memory most of the time. So it looks at the requests that are
// there already, and asks memory for their keys' locks all at once, before it executes the first.
//
// Thread safety: none.
#pragma once

#include "protocol/resp/request_batch.h"
#include "server/locks/lock_table.h"
#include "server/node/command_table.h"

#include <span>
#include <string_view>

namespace redlock::server {

class LookAhead {
 public:
  // Both outlive it.
  LookAhead(CommandTable& commands, const LockLookup& locks) : commands_(commands), locks_(locks) {}

  // More than so many are not looked at.
  static constexpr std::size_t kExpectedMax = LockLookup::kExpectedMax;
  // These will be executed next.
  void expect(std::span<const protocol::Request> requests) const;
  // What was received from several clients: the first request of each will be executed next.
  void expect_first_of(std::span<const std::string_view> received) const;

 private:
  class Keys;

  CommandTable& commands_;
  const LockLookup& locks_;
};

}  // namespace redlock::server
