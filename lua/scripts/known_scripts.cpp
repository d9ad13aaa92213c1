#include "lua/scripts/known_scripts.h"

#include <array>

namespace redlock::lua {
namespace {

// Byte for byte as the libraries send them: a blank more or less is another SHA-1. Compared on
// 2026-11-21 with the newest releases: redis-py 8.1.0, pottery 3.0.1, redlock-py 1.0.8, aioredlock
// 0.7.3, redlock 5.0.0-beta.2 and 4.2.0, redis-semaphore 5.8.0, redsync 4.18.1, bsm/redislock
// 0.9.4, rslock 0.10.0, ShedLock 7.10.1, Spring Integration 7.1.0, Redisson 4.7.0.
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
)lua",
     /*is_nil_if_held=*/true},
    // redlock-rb (Ruby), acquire or extend, the older form
    {"a90bf4be8a6e440e3cc24540eb2f9ff1e16fbcc3",
     R"lua(        if (redis.call("exists", KEYS[1]) == 0 and ARGV[3] == "yes") or redis.call("get", KEYS[1]) == ARGV[1] then
          return redis.call("set", KEYS[1], ARGV[1], "PX", ARGV[2])
        end
)lua",
     /*is_nil_if_held=*/true},
    // redlock-rb (Ruby), value and time left
    {"78d2ca48a6dc9ef6892059792a3a0c5237733d64",
     R"lua(      return { redis.call("get", KEYS[1]), redis.call("pttl", KEYS[1]) }
)lua"},
    // redlock-py (Python), release
    {"4e92fdc63815b3a0a2dd1c1df3694de73607c88d",
     R"lua(
    if redis.call("get",KEYS[1]) == ARGV[1] then
        return redis.call("del",KEYS[1])
    else
        return 0
    end)lua"},
    // redis-semaphore (Node.js), Mutex: release
    {"7157921a7cc7cfba979acf6d63f073151df17d12",
     R"lua(
  local key = KEYS[1]
  local identifier = ARGV[1]

  if redis.call('get', key) == identifier then
    return redis.call('del', key)
  end

  return 0
  )lua"},
    // redis-semaphore (Node.js), Mutex: extend
    {"594683e49a64ebaf975caf5f8079a1d097c438f1",
     R"lua(
  local key = KEYS[1]
  local identifier = ARGV[1]
  local lockTimeout = ARGV[2]

  local value = redis.call('get', key)

  if value == identifier then
    redis.call('pexpire', key, lockTimeout)
    return 1
  end

  return 0
  )lua"},
    // rslock (Rust), release
    {"daf86bbf8740dd3ca86733367a016364b2110627",
     R"lua(
if redis.call("GET", KEYS[1]) == ARGV[1] then
  return redis.call("DEL", KEYS[1])
else
  return 0
end
)lua"},
    // rslock (Rust), extend
    {"17a49af0c4b1a9034503fa84f3570f5ca76c4cbf",
     R"lua(
if redis.call("get", KEYS[1]) ~= ARGV[1] then
  return 0
else
  if redis.call("set", KEYS[1], ARGV[1], "PX", ARGV[2]) ~= nil then
    return 1
  else
    return 0
  end
end
)lua"},
    // ShedLock (Java), release
    {"194f3902b2dd08557818d09fc2e7682d91480e53",
     R"lua(if redis.call("get",KEYS[1]) == ARGV[1] then
    return redis.call("del",KEYS[1])
else
    return 0
end
)lua"},
    // ShedLock (Java), extend
    {"67256370c2d1c87e2250898075542b1a7fa5b917",
     R"lua(if redis.call('get', KEYS[1]) == ARGV[1] then
   return redis.call('pexpire', KEYS[1], ARGV[2])
else
   return 0
end
)lua"},
    // Spring Integration (Java), acquire
    {"175897a4e379e99e79a54937be09226f76cdcfe5",
     R"lua(local lockClientId = redis.call('GET', KEYS[1])
if lockClientId == ARGV[1] then
	redis.call('PEXPIRE', KEYS[1], ARGV[2])
	return true
elseif not lockClientId then
	redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
	return true
end
return false
)lua",
     /*is_nil_if_held=*/true},
    // Spring Integration (Java), extend
    {"879e0f7b8d83c3266d4e996627438c05dbda0b89",
     R"lua(if (redis.call('GET', KEYS[1]) == ARGV[1]) then
	redis.call('PEXPIRE', KEYS[1], ARGV[2])
	return true
end
return false
)lua"},
    // Spring Integration (Java), release, where waiters poll
    {"f0f9038aa2b6d6c3436c72d147573ea2a58f0ef2",
     R"lua(local lockClientId = redis.call('GET', KEYS[1])
if lockClientId == ARGV[1] then
	redis.call('UNLINK', KEYS[1])
	return true
end
return false
)lua"},
    // Spring Integration (Java), release, where waiters are told
    {"7a71e9443a2a41539fb115a5a27d5a748a871aed",
     R"lua(local lockClientId = redis.call('GET', KEYS[1])
if (lockClientId == ARGV[1] and redis.call('UNLINK', KEYS[1]) == 1) then
	redis.call('PUBLISH', ARGV[2], KEYS[1])
	return true
end
return false
)lua"},
    // Redisson (Java), RLock: acquire
    {"149c5a8bf18676fd99e9e6e24923bd64d9b62f94",
     R"lua(if ((redis.call('exists', KEYS[1]) == 0) or (redis.call('hexists', KEYS[1], )lua"
     R"lua(ARGV[2]) == 1)) then redis.call('hincrby', KEYS[1], ARGV[2], 1); )lua"
     R"lua(redis.call('pexpire', KEYS[1], ARGV[1]); return nil; end; return )lua"
     R"lua(redis.call('pttl', KEYS[1]);)lua"},
    // Redisson (Java), RLock: release
    {"6866459238a13a701d42f4971f12d9f3a50e2442",
     R"lua(local val = redis.call('get', KEYS[3]); if val ~= false then return )lua"
     R"lua(tonumber(val);end; if (redis.call('hexists', KEYS[1], ARGV[3]) == 0) then )lua"
     R"lua(return nil;end; local counter = redis.call('hincrby', KEYS[1], ARGV[3], )lua"
     R"lua(-1); if (counter > 0) then redis.call('pexpire', KEYS[1], ARGV[2]); )lua"
     R"lua(redis.call('set', KEYS[3], 0, 'px', ARGV[5]); return 0; else )lua"
     R"lua(redis.call('del', KEYS[1]); redis.call(ARGV[4], KEYS[2], ARGV[1]); )lua"
     R"lua(redis.call('set', KEYS[3], 1, 'px', ARGV[5]); return 1; end; )lua"},
    // Redisson (Java), RLock: release of another's
    {"605e338249a7a1d40df83b04f7658354f883b41b",
     R"lua(if (redis.call('del', KEYS[1]) == 1) then redis.call(ARGV[2], KEYS[2], )lua"
     R"lua(ARGV[1]); return 1 else return 0 end)lua"},
    // Redisson (Java), extend
    {"6a3d31570dc6f4b0bd32bcdc8e75667747c6f635",
     R"lua(local result = {} for i = 1, #KEYS, 1 do if (redis.call('hexists', KEYS[i], )lua"
     R"lua(ARGV[i + 1]) == 1) then redis.call('pexpire', KEYS[i], ARGV[1]); )lua"
     R"lua(table.insert(result, 1); else table.insert(result, 0); end; end; return )lua"
     R"lua(result;)lua"},
    // Redisson (Java), SpinLock: acquire
    {"dad0f8d619e548e04f21fb48d50be5034df3adae",
     R"lua(if (redis.call('exists', KEYS[1]) == 0) then redis.call('hincrby', KEYS[1], )lua"
     R"lua(ARGV[2], 1); redis.call('pexpire', KEYS[1], ARGV[1]); return nil; end; if )lua"
     R"lua((redis.call('hexists', KEYS[1], ARGV[2]) == 1) then redis.call('hincrby', )lua"
     R"lua(KEYS[1], ARGV[2], 1); redis.call('pexpire', KEYS[1], ARGV[1]); return nil; )lua"
     R"lua(end; return redis.call('pttl', KEYS[1]);)lua"},
    // Redisson (Java), SpinLock: release
    {"73ac2729af29ea9a975f95e8097f7ee9a74cce3d",
     R"lua(local val = redis.call('get', KEYS[2]); if val ~= false then return )lua"
     R"lua(tonumber(val);end; if (redis.call('hexists', KEYS[1], ARGV[2]) == 0) then )lua"
     R"lua(return nil;end; local counter = redis.call('hincrby', KEYS[1], ARGV[2], )lua"
     R"lua(-1); if (counter > 0) then redis.call('pexpire', KEYS[1], ARGV[1]); )lua"
     R"lua(redis.call('set', KEYS[2], 0, 'px', ARGV[3]); return 0; else )lua"
     R"lua(redis.call('del', KEYS[1]); redis.call('set', KEYS[2], 1, 'px', ARGV[3]); )lua"
     R"lua(return 1; end; )lua"},
    // Redisson (Java), SpinLock: release of another's
    {"51b433c3cc9a6ca991b3aefec63d23490c246318",
     R"lua(if (redis.call('del', KEYS[1]) == 1) then return 1 else return 0 end)lua"},
    // Redisson (Java), FencedLock: acquire
    {"46b5551ba403d6152a7a6eca122e08728d6c8c66",
     R"lua(if ((redis.call('exists', KEYS[1]) == 0) or (redis.call('hexists', KEYS[1], )lua"
     R"lua(ARGV[2]) == 1)) then redis.call('incr', KEYS[2]);redis.call('hincrby', )lua"
     R"lua(KEYS[1], ARGV[2], 1); redis.call('pexpire', KEYS[1], ARGV[1]); return nil; )lua"
     R"lua(end; return redis.call('pttl', KEYS[1]);)lua"},
    // Redisson (Java), FencedLock: acquire, with the token
    {"49babb5a1e6a0c5f188c2ae62b93b51cdfd63e45",
     R"lua(if (redis.call('exists', KEYS[1]) == 0 or (redis.call('hexists', KEYS[1], )lua"
     R"lua(ARGV[2]) == 1)) then local token = redis.call('incr', )lua"
     R"lua(KEYS[2]);redis.call('hincrby', KEYS[1], ARGV[2], 1); redis.call('pexpire', )lua"
     R"lua(KEYS[1], ARGV[1]); return {-1, token}; end; return {redis.call('pttl', )lua"
     R"lua(KEYS[1]), -1};)lua"},
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
