// bit: LuaBitOp's functions, which Redis gives to scripts. Numbers are taken modulo 2^32, results
// are signed 32-bit integers.
#include "lua/library/sandbox.h"
#include "lua/library/script_context.h"

#include <bit>
#include <cmath>
#include <cstdint>

namespace redlock::lua {
namespace {

constexpr unsigned kShiftMask = 31;

std::uint32_t checked_bits(lua_State* lua, int argument) {
  if (lua_isinteger(lua, argument) != 0) {
    return static_cast<std::uint32_t>(lua_tointeger(lua, argument));
  }
  constexpr double kTwoTo32 = 4294967296.0;
  const double rounded = std::nearbyint(luaL_checknumber(lua, argument));
  const double rest = std::fmod(rounded, kTwoTo32);
  if (!(rest > -kTwoTo32 && rest < kTwoTo32)) return 0;  // inf and NaN
  return static_cast<std::uint32_t>(static_cast<std::int64_t>(rest));
}

unsigned checked_shift(lua_State* lua) {
  return checked_bits(lua, 2) & kShiftMask;
}

int push_bits(lua_State* lua, std::uint32_t bits) {
  lua_pushinteger(lua, static_cast<std::int32_t>(bits));
  return 1;
}

template <class Operation>
int fold(lua_State* lua, Operation operation) {
  std::uint32_t bits = checked_bits(lua, 1);
  for (int i = 2; i <= lua_gettop(lua); ++i) {
    stop_if_aborted(lua);
    bits = operation(bits, checked_bits(lua, i));
  }
  return push_bits(lua, bits);
}

int to_bit(lua_State* lua) {
  return push_bits(lua, checked_bits(lua, 1));
}
int bit_not(lua_State* lua) {
  return push_bits(lua, ~checked_bits(lua, 1));
}
int bit_and(lua_State* lua) {
  return fold(lua, [](std::uint32_t a, std::uint32_t b) { return a & b; });
}
int bit_or(lua_State* lua) {
  return fold(lua, [](std::uint32_t a, std::uint32_t b) { return a | b; });
}
int bit_xor(lua_State* lua) {
  return fold(lua, [](std::uint32_t a, std::uint32_t b) { return a ^ b; });
}
int shift_left(lua_State* lua) {
  return push_bits(lua, checked_bits(lua, 1) << checked_shift(lua));
}
int shift_right(lua_State* lua) {
  return push_bits(lua, checked_bits(lua, 1) >> checked_shift(lua));
}
int shift_right_signed(lua_State* lua) {
  const auto number = static_cast<std::int32_t>(checked_bits(lua, 1));
  return push_bits(lua, static_cast<std::uint32_t>(number >> checked_shift(lua)));
}
int rotate_left(lua_State* lua) {
  return push_bits(lua, std::rotl(checked_bits(lua, 1), static_cast<int>(checked_shift(lua))));
}
int rotate_right(lua_State* lua) {
  return push_bits(lua, std::rotr(checked_bits(lua, 1), static_cast<int>(checked_shift(lua))));
}
int swap_bytes(lua_State* lua) {
  return push_bits(lua, __builtin_bswap32(checked_bits(lua, 1)));
}

// tohex(number, digits): the lowest digits; upper case when `digits` is negative.
int to_hex(lua_State* lua) {
  constexpr int kDigitsMax = 8;
  std::uint32_t bits = checked_bits(lua, 1);
  const int wanted =
      lua_isnone(lua, 2) ? kDigitsMax : static_cast<std::int32_t>(checked_bits(lua, 2));
  const char* const digits = wanted < 0 ? "0123456789ABCDEF" : "0123456789abcdef";
  const bool is_all = wanted > kDigitsMax || wanted < -kDigitsMax;
  const int count = is_all ? kDigitsMax : wanted < 0 ? -wanted : wanted;
  char text[kDigitsMax];
  for (int i = count - 1; i >= 0; --i) {
    text[i] = digits[bits & 15];
    bits >>= 4;
  }
  lua_pushlstring(lua, text, static_cast<std::size_t>(count));
  return 1;
}

}  // namespace

void open_bit_library(lua_State* lua) {
  static const luaL_Reg kFunctions[] = {{"arshift", &shift_right_signed},
                                        {"band", &bit_and},
                                        {"bnot", &bit_not},
                                        {"bor", &bit_or},
                                        {"bswap", &swap_bytes},
                                        {"bxor", &bit_xor},
                                        {"lshift", &shift_left},
                                        {"rol", &rotate_left},
                                        {"ror", &rotate_right},
                                        {"rshift", &shift_right},
                                        {"tobit", &to_bit},
                                        {"tohex", &to_hex},
                                        {nullptr, nullptr}};
  luaL_newlib(lua, kFunctions);
}

}  // namespace redlock::lua
