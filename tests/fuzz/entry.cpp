// libFuzzer's entry, and replay.cpp's.
#include "tests/fuzz/target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  redlock::fuzz::run({reinterpret_cast<const char*>(data), size});
  return 0;
}
