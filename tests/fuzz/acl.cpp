// Lines of a file of users: whatever stands in them, they are taken or refused, and what was taken
// is told so that it reads back the same. What a request is refused for stands within it.
#include "protocol/access/users.h"
#include "server/commands/families.h"
#include "server/node/command_table.h"
#include "tests/fuzz/target.h"

#include <array>
#include <string>
#include <vector>

namespace redlock::fuzz {
namespace {

using namespace redlock::protocol;

const CommandRights& rights() {
  static const server::CommandTable table(server::all_families());
  static const CommandRights of_all(table.specs());
  return of_all;
}

// Every command, with fewer and more words than it takes.
void check_requests(const User& user) {
  constexpr std::array<std::string_view, 6> kWords = {"x", "get", "2", "a:1", "b", "channel"};
  for (std::size_t i = 0; i < rights().size(); ++i) {
    const auto command = static_cast<CommandRights::Number>(i);
    for (std::size_t size = 1; size <= kWords.size(); ++size) {
      const Denial no = user.check(command, Request(kWords).first(size));
      INVARIANT(no.place < size, "a key that is refused stands behind the request");
      INVARIANT(!no || !user.has_all_rights(), "who has all rights is refused");
    }
  }
}

void check_reads_back(const Users& users, const User& user) {
  const auto again = users.read(user_line(user), "again");
  INVARIANT(again, "a user as he is told is refused");
  INVARIANT(user_line(again.value().front()) == user_line(user), "a user reads back as another");
}

}  // namespace

void run(std::string_view input) {
  Users users(rights());
  auto read = users.read(input, "users.acl");
  if (!read) {
    INVARIANT(read.error().text.starts_with("users.acl:"), "a refusal in another shape");
    return;
  }
  constexpr std::size_t kLookedAt = 4;
  for (std::size_t i = 0; i < std::min(read.value().size(), kLookedAt); ++i) {
    const User& user = read.value()[i];
    check_requests(user);
    check_reads_back(users, user);
  }
  static_cast<void>(users.replace_all(std::move(read).value()));
}

}  // namespace redlock::fuzz
