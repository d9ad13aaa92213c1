// REDLOCK_PUBLIC marks what a program may call of the libraries: all else in them is hidden, so
// that a shared object that is linked with them shows nothing of their inside, and takes no symbol
// of another's for theirs. Means the same in C and in C++.
#pragma once

#define REDLOCK_PUBLIC __attribute__((visibility("default")))
