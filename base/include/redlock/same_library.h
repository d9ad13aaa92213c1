// Refuses programs in which the types of the standard library are others than in these libraries:
// they would link, and break when they run. Every public C++ header includes it.
//
// A library of which the sources are a part of the program's own build (add_subdirectory,
// FetchContent) is compiled as the program is: there it refuses nothing.
#pragma once

#include <cstddef>

#if !defined(REDLOCK_BUILT_WITH_ITS_USER)
#if defined(_GLIBCXX_DEBUG)
#error "redlock was built without _GLIBCXX_DEBUG: build it in your project, by add_subdirectory"
#endif
#if defined(_GLIBCXX_USE_CXX11_ABI) && !_GLIBCXX_USE_CXX11_ABI
#error "redlock was built with the new strings' ABI: build it in your project, by add_subdirectory"
#endif
#endif
