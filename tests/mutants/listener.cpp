// In a test program whose sources have their mutants in them: notes whom each test case meets, and
// ends the program when a case hangs.
#include "tests/mutants/met_file.h"

#include <string>

#define CATCH_CONFIG_EXTERNAL_INTERFACES
#include <catch2/catch.hpp>

namespace {

// Of a processor's time. The slowest case takes a few.
constexpr double kCaseSecondsMax = 20;

class Listener : public Catch::TestEventListenerBase {
 public:
  using TestEventListenerBase::TestEventListenerBase;

  void testCaseStarting(const Catch::TestCaseInfo&) override {
    if (!met_.is_open()) redlock_mutants::limit_cpu(kCaseSecondsMax);
    met_.begin();
  }
  void testCaseEnded(const Catch::TestCaseStats& stats) override {
    redlock_mutants::limit_cpu(0);
    met_.end(stats.testInfo.name, stats.totals.assertions.allOk() ? "passed" : "failed");
  }

 private:
  redlock_mutants::MetFile met_;
};

CATCH_REGISTER_LISTENER(Listener)

}  // namespace
