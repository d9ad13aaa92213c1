// NativeRun: one run of a known script without Lua.
//
// A native form (native_forms.h) is the script's text again, in C++: it makes the same calls in the
// same order, by the node's own command functions, so that what these count, tell and refuse is the
// same by construction. A call is named by its place in the body, and the body says what it calls,
// in which letters (monitors show them), and in which line (an error tells it).
//
//   Reply release(NativeRun& run) {                     // if redis.call('get', KEYS[1]) == ARGV[1]
//     if (!run.is_own(0)) return Reply::integer(0);     // else return 0
//     return run.call(1, run.key());                  // then return redis.call('del', KEYS[1])
//   }
//
// An error ends a script where it is raised. Here it sticks instead: the calls behind it do
// nothing, and the form's reply does not count; so a form need not look for errors.
#pragma once

#include "protocol/resp/reply.h"
#include "protocol/resp/request.h"

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace redlock::lua {

// One redis.call of a known script's body.
struct NativeCall {
  std::string_view name;  // as it is written; empty where it is no literal: then ARGV tells it
  int line = 0;
  bool is_protected = false;  // redis.pcall
};

// The calls of a body in the order in which they stand there. Views of the body.
std::vector<NativeCall> native_calls_of(std::string_view body);

// What the calls reach.
class NativeHost {
 public:
  // The nth call of the body. Replies are views as those of a ScriptHost.
  virtual protocol::Reply call_nth(std::size_t nth, protocol::Request request) = 0;
  // redis.call(nth, key) == value, where the nth is a GET. Each script of a lock begins so: it does
  // and counts what GET does, but makes no reply. `unknown`: nothing was done, and GET is to tell.
  enum class Comparison { differs, equals, unknown };
  virtual Comparison compare(std::size_t nth, std::string_view key, std::string_view value) = 0;
  // Counts nothing, and tells nothing to anybody.
  virtual bool is_there(std::string_view key) = 0;

 protected:
  ~NativeHost() = default;
};

class NativeRun {
 public:
  using Words = std::span<const std::string_view>;

  // All of them outlive it.
  NativeRun(NativeHost& host, std::span<const NativeCall> calls, Words keys, Words args)
      : host_(host), calls_(calls), keys_(keys), args_(args) {}

  Words keys() const { return keys_; }
  Words args() const { return args_; }
  // REQUIRES of these: the script's usual form has so many.
  std::string_view key(std::size_t i = 0) const { return keys_[i]; }
  std::string_view arg(std::size_t i = 0) const { return args_[i]; }

  // redis.call: the nth of the body, with these words behind the command's name.
  template <typename... Words>
  protocol::Reply call(std::size_t nth, const Words&... words) {
    const std::string_view request[] = {calls_[nth].name, words...};
    return request_nth(nth, request);
  }
  // The same, where the first of the words names the command.
  template <typename... Words>
  protocol::Reply call_named(std::size_t nth, const Words&... words) {
    const std::string_view request[] = {words...};
    return request_nth(nth, request);
  }
  // redis.call(nth, KEYS[1]) == ARGV[1]
  bool is_own(std::size_t nth) {
    if (failed_ != nullptr) return false;
    const auto comparison = host_.compare(nth, key(), arg());
    if (comparison != NativeHost::Comparison::unknown) [[likely]]
      return comparison == NativeHost::Comparison::equals;
    const protocol::Reply value = call(nth, key());
    return value.is(protocol::Reply::Kind::bulk) && value.text() == arg();
  }
  // redis.call(nth, words) == 1
  template <typename... Words>
  bool is_one(std::size_t nth, const Words&... words) {
    const protocol::Reply reply = call(nth, words...);
    return reply.is(protocol::Reply::Kind::integer) && reply.integer() == 1;
  }
  bool is_there(std::string_view key) { return host_.is_there(key); }

  // The call that raised, and what; nullptr if none did.
  const NativeCall* failed_call() const { return failed_; }
  const protocol::Reply& error() const { return error_; }

 private:
  protocol::Reply request_nth(std::size_t nth, protocol::Request words) {
    protocol::Reply reply =
        failed_ == nullptr ? host_.call_nth(nth, words) : protocol::Reply::null();
    if (reply.is_error()) [[unlikely]]
      note_error(nth, reply);
    return reply;
  }
  void note_error(std::size_t nth, protocol::Reply& reply);

  NativeHost& host_;
  const std::span<const NativeCall> calls_;
  const Words keys_;
  const Words args_;
  const NativeCall* failed_ = nullptr;
  protocol::Reply error_;
};

}  // namespace redlock::lua
