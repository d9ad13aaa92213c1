#include "lua/known_scripts.h"

#include <array>

namespace redlock::lua {
namespace {

// Byte for byte as the libraries send them: a blank more or less is another SHA-1.
constexpr auto kKnownScripts = std::to_array<KnownScript>({
    // the Redis documentation
    {"647c65a442733a1aa440f99908d249d13b4d6c4a",
     R"lua(if redis.call("get",KEYS[1]) == ARGV[1] then
    return redis.call("del",KEYS[1])
else
    return 0
end)lua"},
    // the Redis documentation, in one line
    {"b70c2384248f88e6b75b9f89241a180f856ad852",
     R"lua(if redis.call("get",KEYS[1]) == ARGV[1] then return redis.call("del",KEYS[1]) else return 0 end)lua"},
    // redis-py, release
    {"c3f8721cbb97f72bc19e972846bd7aaf91901658",
     R"lua(
        local token = redis.call('get', KEYS[1])
        if not token or token ~= ARGV[1] then
            return 0
        end
        redis.call('del', KEYS[1])
        return 1
    )lua"},
    // redis-py, extend
    {"a4e8783852e6b949f9ef3a97212805108459a890",
     R"lua(
        local token = redis.call('get', KEYS[1])
        if not token or token ~= ARGV[1] then
            return 0
        end
        local expiration = redis.call('pttl', KEYS[1])
        if not expiration then
            expiration = 0
        end
        if expiration < 0 then
            return 0
        end

        local newttl = ARGV[2]
        if ARGV[3] == "0" then
            newttl = ARGV[2] + expiration
        end
        redis.call('pexpire', KEYS[1], newttl)
        return 1
    )lua"},
    // redis-py, reacquire
    {"1cac51482acf5858da00f6d685d68f886cd6b6b2",
     R"lua(
        local token = redis.call('get', KEYS[1])
        if not token or token ~= ARGV[1] then
            return 0
        end
        redis.call('pexpire', KEYS[1], ARGV[2])
        return 1
    )lua"},
    // redsync (Go), release
    {"e950836ed1e694540c503ef9972b8de518044d3b",
     R"lua(
	local val = redis.call("GET", KEYS[1])
	if val == ARGV[1] then
		return redis.call("DEL", KEYS[1])
	elseif val == false then
		return -1
	else
		return 0
	end
)lua"},
    // redsync (Go), extend by SET NX too
    {"b6b55c439e02c6f52ffb8be7ec8c0d0ac816ea79",
     R"lua(
	if redis.call("GET", KEYS[1]) == ARGV[1] then
		return redis.call("PEXPIRE", KEYS[1], ARGV[2])
	elseif redis.call("SET", KEYS[1], ARGV[1], "PX", ARGV[2], "NX") then
		return 1
	else
		return 0
	end
)lua"},
    // redsync (Go), extend
    {"d75bb8b5bd13532ddedd17762e772346e39b321e",
     R"lua(
	if redis.call("GET", KEYS[1]) == ARGV[1] then
		return redis.call("PEXPIRE", KEYS[1], ARGV[2])
	else
		return 0
	end
)lua"},
    // redsync (Go), release, the older form
    {"00583931c4e4d483f6233879c133c71ed5393f9d",
     R"lua(
	if redis.call("GET", KEYS[1]) == ARGV[1] then
		return redis.call("DEL", KEYS[1])
	else
		return 0
	end
)lua"},
    // bsm/redislock (Go), refresh
    {"a7aba3bc5d6e99b3003da8b9d80a63b9f4092ecf",
     R"lua(if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("pexpire", KEYS[1], ARGV[2]) else return 0 end)lua"},
    // bsm/redislock (Go), release
    {"cf0e94b2e9ffc7e04395cf88f7583fc309985910",
     R"lua(if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) else return 0 end)lua"},
    // bsm/redislock (Go), time left
    {"6484da7d58920897fdc22b7f9afd1a3d47524ea8",
     R"lua(if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("pttl", KEYS[1]) else return -3 end)lua"},
    // bsm/redislock (Go), obtain
    {"80a1b5f2cfccec3b7119ba7721d2127682b691a7",
     R"lua(
if redis.call("set", KEYS[1], ARGV[1], "NX", "PX", ARGV[3]) then return redis.status_reply("OK") end

local offset = tonumber(ARGV[2])
if redis.call("getrange", KEYS[1], 0, offset-1) == string.sub(ARGV[1], 1, offset) then return redis.call("set", KEYS[1], ARGV[1], "PX", ARGV[3]) end
)lua"},
    // redlock (Node.js) 5, acquire
    {"96da70f7716f27d278a5218544df37fd8b0a5e4c",
     R"lua(
  -- Return 0 if an entry already exists.
  for i, key in ipairs(KEYS) do
    if redis.call("exists", key) == 1 then
      return 0
    end
  end

  -- Create an entry for each provided key.
  for i, key in ipairs(KEYS) do
    redis.call("set", key, ARGV[1], "PX", ARGV[2])
  end

  -- Return the number of entries added.
  return #KEYS
)lua"},
    // redlock (Node.js) 5, extend
    {"aed6f382e410db8ba7926d4e5e9aab410bf2a78a",
     R"lua(
  -- Return 0 if an entry exists with a *different* lock value.
  for i, key in ipairs(KEYS) do
    if redis.call("get", key) ~= ARGV[1] then
      return 0
    end
  end

  -- Update the entry for each provided key.
  for i, key in ipairs(KEYS) do
    redis.call("set", key, ARGV[1], "PX", ARGV[2])
  end

  -- Return the number of entries updated.
  return #KEYS
)lua"},
    // redlock (Node.js) 5, release
    {"e4612211c9f8f51c257e26e056b0a654b3187242",
     R"lua(
  local count = 0
  for i, key in ipairs(KEYS) do
    -- Only remove entries for *this* lock value.
    if redis.call("get", key) == ARGV[1] then
      redis.pcall("del", key)
      count = count + 1
    end
  end

  -- Return the number of entries removed.
  return count
)lua"},
    // redlock (Node.js) 4, acquire
    {"e5a322e2634ef59a516e8ea150cb085afafee684",
     R"lua(
	-- Return 0 if an entry already exists.
	for i, key in ipairs(KEYS) do
		if redis.call("exists", key) == 1 then
			return 0
		end
	end

	-- Create an entry for each provided key.
	for i, key in ipairs(KEYS) do
		redis.call("set", key, ARGV[1], "PX", ARGV[2])
	end

	-- Return the number of entries added.
	return #KEYS
)lua"},
    // redlock (Node.js) 4, release
    {"0f0f23b9048b36752b5be114f357ba083449f908",
     R"lua(
	local count = 0
	for i, key in ipairs(KEYS) do
		-- Only remove entries for *this* lock value.
		if redis.call("get", key) == ARGV[1] then
			redis.pcall("del", key)
			count = count + 1
		end
	end

	-- Return the number of entries removed.
	return count
)lua"},
    // redlock (Node.js) 4, extend
    {"ce46f80993d5dac20dd066eb301a4e37994bdbed",
     R"lua(
	-- Return 0 if an entry exists with a *different* lock value.
	for i, key in ipairs(KEYS) do
		if redis.call("get", key) ~= ARGV[1] then
			return 0
		end
	end

	-- Update the entry for each provided key.
	for i, key in ipairs(KEYS) do
		redis.call("set", key, ARGV[1], "PX", ARGV[2])
	end

	-- Return the number of entries updated.
	return #KEYS
)lua"},
    // pottery (Python), time left
    {"f5f7bd3a3aa4a63c507c1155c5ea1219b350d992",
     R"lua(
                if redis.call('get', KEYS[1]) == ARGV[1] then
                    local pttl = redis.call('pttl', KEYS[1])
                    return (pttl > 0) and pttl or 0
                else
                    return 0
                end
            )lua"},
    // pottery (Python), extend
    {"ba015a80261b616e7a62d35df0b8e3edbe6c9414",
     R"lua(
                if redis.call('get', KEYS[1]) == ARGV[1] then
                    return redis.call('pexpire', KEYS[1], ARGV[2])
                else
                    return 0
                end
            )lua"},
    // pottery (Python), release
    {"a4aada0b36710970eedaaaeec4a6b7d8c78c4f80",
     R"lua(
                if redis.call('get', KEYS[1]) == ARGV[1] then
                    return redis.call('del', KEYS[1])
                else
                    return 0
                end
            )lua"},
    // aioredlock (Python), acquire
    {"aecadef15d24ccd9360d8641cdec8e0337a0d343",
     R"lua(
    local identifier = redis.call('get', KEYS[1])
    if not identifier or identifier == ARGV[1] then
        return redis.call("set", KEYS[1], ARGV[1], 'PX', ARGV[2])
    else
        return redis.error_reply('ERROR')
    end)lua"},
    // aioredlock (Python), release
    {"0e084295a6567dabd5b7d5b4c99018cff95fceff",
     R"lua(
    local identifier = redis.call('get', KEYS[1])
    if not identifier then
        return redis.status_reply('OK')
    elseif identifier == ARGV[1] then
        return redis.call("del", KEYS[1])
    else
        return redis.error_reply('ERROR')
    end)lua"},
    // aioredlock (Python), time left
    {"2239e3d89e276c90ec523515c30bcf0071823c7e",
     R"lua(
    local identifier = redis.call('get', KEYS[1])
    if not identifier then
        return redis.error_reply('ERROR')
    elseif identifier == ARGV[1] then
        return redis.call("TTL", KEYS[1])
    else
        return redis.error_reply('ERROR')
    end)lua"},
    // redlock-rb (Ruby), release
    {"8e4905cee18e7c3188d10f2b8b170e403baed34f",
     R"lua(      if redis.call("get",KEYS[1]) == ARGV[1] then
        return redis.call("del",KEYS[1])
      else
        return 0
      end
)lua"},
    // redlock-rb (Ruby), acquire or extend
    {"ceb2b2062e40c51a2b3963fd078bc71f11bdc65c",
     R"lua(      if (redis.call("exists", KEYS[1]) == 0 and ARGV[3] == "yes") or redis.call("get", KEYS[1]) == ARGV[1] then
        return redis.call("set", KEYS[1], ARGV[1], "PX", ARGV[2])
      end
)lua"},
    // redlock-rb (Ruby), value and time left
    {"78d2ca48a6dc9ef6892059792a3a0c5237733d64",
     R"lua(      return { redis.call("get", KEYS[1]), redis.call("pttl", KEYS[1]) }
)lua"},
});

}  // namespace

std::span<const KnownScript> known_scripts() {
  return kKnownScripts;
}

std::string_view known_script_body(std::string_view sha1) {
  for (const KnownScript& script : kKnownScripts) {
    if (script.sha1 == sha1) return script.body;
  }
  return {};
}

}  // namespace redlock::lua
