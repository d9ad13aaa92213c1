// What can be told of a script from its words alone, before it ever runs.
#pragma once

#include <string_view>

namespace redlock::lua {

// Whether this script cannot change a table: it assigns nothing, and of all names that a script can
// use, only those stand in it that lead to no function which could. False when in doubt, as of a
// text with comments or long strings. So are the scripts that release a lock and extend it.
bool cannot_change_tables(std::string_view source);

}  // namespace redlock::lua
