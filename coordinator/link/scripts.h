// The scripts that a plain Redis runs for a coordinator,
// with their SHA-1 (a unit test checks them).
//
// Sent by EVALSHA; a node that does not know one answers NOSCRIPT and gets it in full by EVAL.
#pragma once

#include <string_view>

namespace redlock::coordinator {

struct NodeScript {
  std::string_view text;
  std::string_view sha;
};

// Deletes the key if it still holds this value: the release script that the published algorithm
// gives, byte for byte, as nodes and proxies may know it by its hash. KEYS[1], ARGV: value.
inline constexpr NodeScript kReleaseScript = {
    R"(if redis.call("get",KEYS[1]) == ARGV[1] then
    return redis.call("del",KEYS[1])
else
    return 0
end)",
    "647c65a442733a1aa440f99908d249d13b4d6c4a"};

// Deletes the key if its value begins with this one (rule D9). KEYS[1], ARGV: prefix.
inline constexpr NodeScript kReleasePrefixScript = {
    R"(local held = redis.call("get",KEYS[1])
if held and string.sub(held,1,#ARGV[1]) == ARGV[1] then
    return redis.call("del",KEYS[1])
else
    return 0
end)",
    "4051862f86de3429c89080e8c5e106b1e13753c0"};

// Gives the key a later deadline if it still holds this value, and never an earlier one (rule Q4).
// KEYS[1], ARGV: value, TTL in milliseconds. 1: it is held for at least that long; 0: not yours.
inline constexpr NodeScript kExtendScript = {
    R"(if redis.call("get",KEYS[1]) ~= ARGV[1] then
    return 0
end
local left = redis.call("pttl",KEYS[1])
if left >= 0 and left <= tonumber(ARGV[2]) then
    return redis.call("pexpire",KEYS[1],ARGV[2])
end
return 1)",
    "292ae859fdb9bd3e93974084a05ff1a92420fce6"};

// Sets the key's deadline, also to an earlier one, if it still holds this value (rule D8).
// KEYS[1], ARGV: value, TTL in milliseconds. 0: not yours.
inline constexpr NodeScript kShortenScript = {
    R"(if redis.call("get",KEYS[1]) == ARGV[1] then
    return redis.call("pexpire",KEYS[1],ARGV[2])
else
    return 0
end)",
    "1bfbb99810d66d9ea59b16336fdf07c12b8be9fc"};

// Gives the key another value if it still holds this one (rule D9), and no earlier deadline unless
// that is meant. KEYS[1], ARGV: value, new value, TTL in milliseconds, "1" to set the deadline in
// any case, else "0". 0: not yours.
inline constexpr NodeScript kReplaceScript = {
    R"(if redis.call("get",KEYS[1]) ~= ARGV[1] then
    return 0
end
local ttl = tonumber(ARGV[3])
local left = redis.call("pttl",KEYS[1])
if ARGV[4] == "0" and left > ttl then
    ttl = left
end
redis.call("set",KEYS[1],ARGV[2],"PX",ttl)
return 1)",
    "f727e1c9cbe9d59cd0c15c5bbcad5db82df1bcbc"};

// The extension script, which makes the lock where it is missing, too: a top-up
// (rules Q4, D8).
// KEYS[1], ARGV: value, TTL in milliseconds. 2: it was missing, and is held now.
inline constexpr NodeScript kTopUpScript = {
    R"(local held = redis.call("get",KEYS[1])
if not held then
    redis.call("set",KEYS[1],ARGV[1],"NX","PX",ARGV[2])
    return 2
end
if held ~= ARGV[1] then
    return 0
end
local left = redis.call("pttl",KEYS[1])
if left >= 0 and left <= tonumber(ARGV[2]) then
    return redis.call("pexpire",KEYS[1],ARGV[2])
end
return 1)",
    "dbab422816affab8e309b1d6513f3989fbba0de8"};

// Who holds it, and for how many milliseconds more; nil: nobody. KEYS[1].
inline constexpr NodeScript kHolderScript = {
    R"(local held = redis.call("get",KEYS[1])
return held and {held,redis.call("pttl",KEYS[1])})",
    "1139951364f88d2855757d74fc7b7669cd01642a"};

}  // namespace redlock::coordinator
