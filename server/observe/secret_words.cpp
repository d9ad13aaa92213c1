#include "server/observe/secret_words.h"

#include "base/text/words.h"
#include "server/settings/setting_table.h"

namespace redlock::server {
namespace {

// HELLO 3 AUTH user password: the two words behind AUTH.
bool stands_behind_auth(protocol::Request words, std::size_t number) {
  for (std::size_t back = 1; back <= 2 && number >= 2 + back; ++back) {
    if (equals_ignoring_case(words[number - back], "AUTH")) return true;
  }
  return false;
}

bool is_secret(const protocol::CommandSpec& spec, protocol::Request words, std::size_t number) {
  if (spec.name == "auth") return number >= 1;
  if (spec.name == "hello") return stands_behind_auth(words, number);
  if (spec.name == "acl|setuser") return number >= 3;
  // CONFIG SET name value [name value …]
  return spec.name == "config|set" && number >= 3 && number % 2 == 1 &&
         server::is_secret(words[number - 1]);
}

}  // namespace

std::string_view shown_word(const protocol::CommandSpec& spec, protocol::Request words,
                            std::size_t number) {
  return is_secret(spec, words, number) ? kRedacted : words[number];
}

}  // namespace redlock::server
