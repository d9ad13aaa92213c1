#include "coordinator/node_request.h"

#include "coordinator/scripts.h"
#include "protocol/request_writer.h"

#include <array>
#include <charconv>

namespace redlock::coordinator {
namespace {

using protocol::OutputBuffer;
using protocol::write_request;

// A number as a word of a request; lives as long as the statement that needs it.
class Number {
 public:
  explicit Number(std::int64_t number)
      : end_(std::to_chars(digits_.data(), digits_.data() + digits_.size(), number).ptr) {}
  std::string_view view() const {
    return {digits_.data(), static_cast<std::size_t>(end_ - digits_.data())};
  }

 private:
  std::array<char, 20> digits_;
  char* end_;
};

struct ScriptCall {
  std::string_view command;
  std::string_view script;

  ScriptCall(const Script& known, ScriptForm form)
      : command(form == ScriptForm::by_sha ? "EVALSHA" : "EVAL"),
        script(form == ScriptForm::by_sha ? known.sha : known.text) {}
};

}  // namespace

void write_node_request(const NodeRequest& request, ScriptForm form, OutputBuffer& out) {
  switch (request.kind) {
    case RequestKind::set: {
      const Number ttl(ceil_ms(request.ttl));
      const std::array<std::string_view, 6> words = {
          "SET", request.claim->name, request.claim->value, "NX", "PX", ttl.view()};
      return write_request(words, out);
    }
    case RequestKind::extend: {
      const Number ttl(ceil_ms(request.ttl));
      const ScriptCall call(kExtendScript, form);
      const std::array<std::string_view, 6> words = {
          call.command, call.script, "1", request.claim->name, request.claim->value, ttl.view()};
      return write_request(words, out);
    }
    case RequestKind::release: {
      const ScriptCall call(kReleaseScript, form);
      const std::array<std::string_view, 5> words = {call.command, call.script, "1",
                                                     request.claim->name, request.claim->value};
      return write_request(words, out);
    }
    case RequestKind::get: {
      const std::array<std::string_view, 2> words = {"GET", request.claim->name};
      return write_request(words, out);
    }
    case RequestKind::pttl: {
      const std::array<std::string_view, 2> words = {"PTTL", request.claim->name};
      return write_request(words, out);
    }
    case RequestKind::info: {
      const std::array<std::string_view, 1> words = {"INFO"};
      return write_request(words, out);
    }
  }
}

}  // namespace redlock::coordinator
