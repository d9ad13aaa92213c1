// The password in what a browser says of who asks: HTTP's "Basic" credentials (RFC 7617). Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace redlock::net {

// authorization: the field of that name, "Basic " and user:password in base64. Whatever the user
// is called. nullopt: another scheme, or it is not well formed.
std::optional<std::string> basic_password(std::string_view authorization);

}  // namespace redlock::net
