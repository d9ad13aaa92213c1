// Switches: stands before every source that has all of its mutants in it (switched.py), each behind
// its number. What a mutant replaces asks here whether it is that one's turn.
//
//   a <= ::redlock_mutants::Less(17) >= b          // a < b; mutant 17 says a <= b
//   x = ::redlock_mutants::constant(18, 5, 6)      // 5; mutant 18 says 6
//   ::redlock_mutants::negated(19, c)              // c; mutant 19 says !c
//   { if (::redlock_mutants::keeps(20)) f(); }     // f(); mutant 20 leaves it out
//   ::redlock_mutants::Extreme<21>::min(a, b)      // std::min; mutant 21 says std::max
//
// A comparison becomes two of the same rank, of the operand before with the switch and of what that
// gives with the operand behind: so it needs no brackets, and nobody has to know where the operands
// begin and end.
//
// Where somebody listens, a switch notes that its mutant would have made a difference here. Who has
// made none yet runs as the whole program does: whoever was never met cannot be noticed.
#pragma once

#include <algorithm>
#include <initializer_list>

namespace redlock_mutants {

inline constexpr int kNumbers = 1 << 16;

extern int turn;  // this mutant's; 0: none's
extern bool listens;
extern unsigned char met[kNumbers];

inline void meet(int number) {
  if (listens) [[unlikely]]
    met[number] = 1;
}

inline bool is(int number) {
  meet(number);
  return turn == number;
}

inline bool keeps(int number) {
  return !is(number);
}

inline bool negated(int number, bool condition) {
  return is(number) != condition;
}

template <class T>
T constant(int number, T whole, T mutated) {
  return is(number) ? mutated : whole;
}

// --- comparisons

template <class Left, class Operation>
struct Asked {
  const Left& left;
  int number;

  template <class Right>
  bool with(const Right& right) const {
    if (listens) [[unlikely]] {
      if (Operation::whole(left, right) != Operation::mutated(left, right)) met[number] = 1;
    }
    if (turn == number) [[unlikely]]
      return Operation::mutated(left, right);
    return Operation::whole(left, right);
  }
};

#define REDLOCK_MUTANTS_COMPARISON(Name, whole_operator, mutated_operator, before, behind) \
  struct Name {                                                                            \
    explicit Name(int the_number) : number(the_number) {}                                  \
    int number;                                                                            \
    template <class A, class B>                                                            \
    static bool whole(const A& a, const B& b) {                                            \
      return static_cast<bool>(a whole_operator b);                                        \
    }                                                                                      \
    template <class A, class B>                                                            \
    static bool mutated(const A& a, const B& b) {                                          \
      return static_cast<bool>(a mutated_operator b);                                      \
    }                                                                                      \
  };                                                                                       \
  template <class Left>                                                                    \
  Asked<Left, Name> operator before(const Left& left, Name name) {                         \
    return {left, name.number};                                                            \
  }                                                                                        \
  template <class Left, class Right>                                                       \
  bool operator behind(Asked<Left, Name>&& asked, const Right& right) {                    \
    return asked.with(right);                                                              \
  }

REDLOCK_MUTANTS_COMPARISON(Less, <, <=, <=, >=)
REDLOCK_MUTANTS_COMPARISON(LessOrEqual, <=, <, <=, >=)
REDLOCK_MUTANTS_COMPARISON(Greater, >, >=, <=, >=)
REDLOCK_MUTANTS_COMPARISON(GreaterOrEqual, >=, >, <=, >=)
REDLOCK_MUTANTS_COMPARISON(Equal, ==, !=, ==, ==)
REDLOCK_MUTANTS_COMPARISON(Unequal, !=, ==, ==, ==)
#undef REDLOCK_MUTANTS_COMPARISON

// --- std::min and std::max

template <int number>
struct Extreme {
  template <class T>
  static const T& min(const T& a, const T& b) {
    return is_turn(a, b) ? std::max(a, b) : std::min(a, b);
  }
  template <class T>
  static const T& max(const T& a, const T& b) {
    return is_turn(a, b) ? std::min(a, b) : std::max(a, b);
  }
  template <class T>
  static T min(std::initializer_list<T> all) {
    return is(number) ? std::max(all) : std::min(all);
  }
  template <class T>
  static T max(std::initializer_list<T> all) {
    return is(number) ? std::min(all) : std::max(all);
  }

 private:
  template <class T>
  static bool is_turn(const T& a, const T& b) {
    if (a < b || b < a) meet(number);
    return turn == number;
  }
};

}  // namespace redlock_mutants
