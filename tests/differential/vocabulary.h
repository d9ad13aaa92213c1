// The words that generated requests are made of: few keys, so that commands meet; values and
// numbers from the edges of what is taken.
//
// No TTL among them ends by chance between two requests: they are an hour or more, or over at once,
// or refused. Short ones are the generator's own, with a wait behind them.
#pragma once

#include "base/random.h"
#include "protocol/catalogue/command_syntax.h"
#include "tests/differential/step.h"

#include <span>
#include <string>
#include <string_view>

namespace redlock::differential {

class Vocabulary {
 public:
  explicit Vocabulary(Random& random) : random_(random) {}

  std::string key();
  std::string value();
  std::string number();
  std::string field();
  std::string channel();
  std::string pattern();
  // An argument of this name and type, as a command's syntax describes it.
  std::string argument(const protocol::SyntaxArgument& argument);

  bool chance(unsigned percent) { return random_.below(100) < percent; }
  std::size_t below(std::size_t bound) { return random_.below(bound); }
  // A TTL that is compared with that of its key (GT, LT) is given a length that no other has: which
  // of two alike is later would be a race of two clocks.
  void make_order_certain(Words& words);
  // The word in some case: as it is, all small, all large, or mixed.
  std::string in_any_case(std::string_view word);
  std::string pick(std::span<const std::string_view> words);

 private:
  std::string seconds();
  std::string milliseconds();

  Random& random_;
  std::int64_t compared_ttls_ = 0;
};

// Takes out what would make two servers differ by their clocks, or stop one of them: a TTL that
// ends soon, a pause for ever.
void make_safe(Words& words);

// Whether the command gives its key a TTL that may be over at once: Redis keeps such a key in its
// counts until someone looks.
bool may_be_over(const Words& words);

}  // namespace redlock::differential
