// What a process says on standard error when it ends. Nobody may be reading there, a full pipe or a
// terminal after Ctrl-S, and an end must not wait for ever: a node that hangs in its last words
// keeps its folder from the next one. So they are waited for a second, and left out after it.
#pragma once

#include <string_view>

namespace redlock::net {

// As one write. At most what a pipe takes at once (4 KB); the rest is cut.
void say_last_words(std::string_view text);

}  // namespace redlock::net
