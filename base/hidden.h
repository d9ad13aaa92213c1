// REDLOCK_HIDDEN: the inside of a public class. A nested class would be as public as the outer one.
//
//   class REDLOCK_HIDDEN Client::Core { … };
//
// All else that is not marked REDLOCK_PUBLIC is hidden by the compiler's options.
#pragma once

#define REDLOCK_HIDDEN __attribute__((visibility("hidden")))
