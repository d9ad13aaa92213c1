#include "lua/engine/compiled_scripts.h"

#include "base/invariant.h"

namespace redlock::lua {

CompiledScripts::CompiledScripts(std::uint64_t hash_seed)
    : by_body_(0, BodyHash{hash_seed}), by_sha1_(0, BodyHash{hash_seed}) {}

Script* CompiledScripts::used(Script* script) {
  script->last_used_ = ++uses_;
  return script;
}

Script* CompiledScripts::find_by_body(std::string_view body) {
  if (last_by_body_ == nullptr || last_by_body_->body() != body) {
    const auto found = by_body_.find(body);
    if (found == by_body_.end()) return nullptr;
    last_by_body_ = found->second.get();
  }
  return used(last_by_body_);
}

Script* CompiledScripts::find_by_sha1(std::string_view lower_case_digits) {
  index_by_sha1();
  const auto found = by_sha1_.find(lower_case_digits);
  if (found == by_sha1_.end()) return nullptr;
  last_by_sha1_ = found->second;
  return used(last_by_sha1_);
}

Script* CompiledScripts::find_last_by_sha1(std::string_view digits) {
  if (last_by_sha1_ == nullptr || last_by_sha1_->sha1() != digits) return nullptr;
  return used(last_by_sha1_);
}

void CompiledScripts::index_by_sha1() {
  for (Script* script : without_sha1_) by_sha1_.emplace(script->sha1(), script);
  without_sha1_.clear();
}

Script& CompiledScripts::add(std::unique_ptr<Script> script, const ScriptHeader& header,
                             std::size_t compiled_bytes) {
  Script& added = *script;
  added.header_ = header.flags;
  added.compiled_bytes_ = compiled_bytes;
  const bool is_new = by_body_.emplace(added.body(), std::move(script)).second;
  INVARIANT(is_new, "a script is compiled once");
  without_sha1_.push_back(&added);
  body_bytes_ += added.body().size();
  bytes_ += added.bytes();
  used(&added);
  return added;
}

void CompiledScripts::keep(Script& script) {
  if (script.is_kept_) return;
  script.is_kept_ = true;
  ++kept_count_;
  kept_bytes_ += script.bytes();
}

// A walk over all: it happens when a script is added to a full cache, which has just compiled one.
Script* CompiledScripts::oldest_recent() {
  Script* oldest = nullptr;
  for (const auto& [body, script] : by_body_) {
    if (script->is_kept_) continue;
    if (oldest == nullptr || script->last_used_ < oldest->last_used_) oldest = script.get();
  }
  return oldest;
}

std::unique_ptr<Script> CompiledScripts::remove(Script& script) {
  std::erase(without_sha1_, &script);
  if (last_by_body_ == &script) last_by_body_ = nullptr;
  if (last_by_sha1_ == &script) last_by_sha1_ = nullptr;
  if (!script.sha1_.empty()) by_sha1_.erase(script.sha1());
  const auto found = by_body_.find(script.body());
  INVARIANT(found != by_body_.end(), "a script that is removed is there");
  std::unique_ptr<Script> removed = std::move(found->second);
  by_body_.erase(found);
  body_bytes_ -= removed->body().size();
  bytes_ -= removed->bytes();
  if (removed->is_kept_) {
    --kept_count_;
    kept_bytes_ -= removed->bytes();
  }
  return removed;
}

void CompiledScripts::clear() {
  without_sha1_.clear();
  by_sha1_.clear();
  last_by_body_ = nullptr;
  last_by_sha1_ = nullptr;
  by_body_.clear();
  kept_count_ = 0;
  body_bytes_ = 0;
  bytes_ = 0;
  kept_bytes_ = 0;
}

}  // namespace redlock::lua
