#include "tests/mutants/switches.h"

#include <cstdlib>

namespace redlock_mutants {

int turn = 0;
bool listens = false;
unsigned char met[kNumbers] = {};

namespace {

// Before whatever a source does before main, as tables of commands are made there.
__attribute__((constructor(101))) void read_turn() {
  const char* number = std::getenv("REDLOCK_MUTANT");
  if (number != nullptr) turn = std::atoi(number);
  listens = std::getenv("REDLOCK_MUTANTS_MET") != nullptr;
}

}  // namespace
}  // namespace redlock_mutants
