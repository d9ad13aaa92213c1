// CompiledScripts: the scripts that an engine knows, found by their body or by their SHA-1.
//
// EVAL sends the whole body each time, so that lookup is the warm one: a memcmp where it is the
// body of the time before, and else a keyed hash besides. SHA-1 is computed for the scripts that
// are there when somebody asks by one (EVALSHA, SCRIPT EXISTS), once for each script.
//
// Not thread-safe. A Script stays where it is until it is forgotten.
#pragma once

#include "base/hash.h"
#include "lua/engine/script.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace redlock::lua {

class CompiledScripts {
 public:
  explicit CompiledScripts(std::uint64_t hash_seed);

  // Each counts as a use. nullptr if there is none.
  Script* find_by_body(std::string_view body);
  Script* find_by_sha1(std::string_view lower_case_digits);
  // What find_by_sha1() found last, if its digits are these.
  Script* find_last_by_sha1(std::string_view digits);

  // REQUIRES: no script of this body is there.
  Script& add(std::unique_ptr<Script> script, const ScriptHeader& header,
              std::size_t compiled_bytes);
  // From now on it is no longer a candidate of oldest_recent().
  void keep(Script& script);

  // Of those that are not kept, the one that was used least recently; nullptr if there is none.
  Script* oldest_recent();
  // Takes it out, so that the caller can give its function back.
  std::unique_ptr<Script> remove(Script& script);
  void clear();

  std::size_t size() const { return by_body_.size(); }
  std::size_t kept_count() const { return kept_count_; }
  // About what all of them take: bodies, and their compiled form in Lua's memory.
  std::size_t bytes() const { return bytes_; }
  std::size_t kept_bytes() const { return kept_bytes_; }
  std::size_t body_bytes() const { return body_bytes_; }  // of that

 private:
  struct BodyHash {
    std::uint64_t seed;
    std::size_t operator()(std::string_view body) const { return keyed_hash(body, seed); }
  };
  using ByBody = std::unordered_map<std::string_view, std::unique_ptr<Script>, BodyHash>;
  using BySha1 = std::unordered_map<std::string_view, Script*, BodyHash>;

  Script* used(Script* script);
  void index_by_sha1();

  ByBody by_body_;
  Script* last_by_body_ = nullptr;  // that was found
  BySha1 by_sha1_;
  Script* last_by_sha1_ = nullptr;     // that was found
  std::vector<Script*> without_sha1_;  // not yet in by_sha1_
  std::uint64_t uses_ = 0;
  std::size_t kept_count_ = 0;
  std::size_t body_bytes_ = 0;
  std::size_t bytes_ = 0;
  std::size_t kept_bytes_ = 0;
};

}  // namespace redlock::lua
