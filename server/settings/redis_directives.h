// The directives of redis.conf (up to 7.0) that a lock node does not have, and what a file that
// holds them gets: most do nothing here and are accepted, so that an existing file starts; those
// that keep somebody out are refused, because a node without them would be more open than its
// operator believes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace redlock::server {

struct RedisDirective {
  enum class Treatment { unknown, does_nothing, refused };
  Treatment treatment = Treatment::unknown;
  std::string_view reason;  // static text; empty when unknown
};

// The name in any case. The words matter where a directive is harmless at its default:
// rename-command "".
RedisDirective redis_directive(std::string_view name, const std::vector<std::string>& words);

}  // namespace redlock::server
