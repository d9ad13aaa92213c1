#include "tests/transcript/transcript.h"

#include "base/text/duration_text.h"
#include "base/text/number.h"
#include "base/text/quoted_words.h"
#include "base/text/words.h"

#include <map>

#include <fmt/format.h>

namespace redlock::transcript {
namespace {

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

// "name rest" -> rest, when the line begins with this word.
std::optional<std::string_view> after(std::string_view line, std::string_view word) {
  if (!line.starts_with(word)) return std::nullopt;
  if (line.size() > word.size() && line[word.size()] != ' ') return std::nullopt;
  return trimmed(line.substr(word.size()));
}

// Where a client's name ends, if the line begins with one and this mark: "bob> ".
std::optional<std::size_t> end_of_client(std::string_view line, std::string_view mark) {
  const auto end = line.find_first_not_of("abcdefghijklmnopqrstuvwxyz");
  if (end == std::string_view::npos) return std::nullopt;
  return line.substr(end).starts_with(mark) ? std::optional(end) : std::nullopt;
}

class Reader {
 public:
  Result<Transcript> read(std::string_view text) {
    while (!text.empty()) {
      const auto end = text.find('\n');
      ++line_number_;
      if (Status status = take(text.substr(0, end)); !status) {
        return Failure{fmt::format("line {}: {}", line_number_, status.error().text)};
      }
      if (end == std::string_view::npos) break;
      text.remove_prefix(end + 1);
    }
    if (Status status = end_answer(); !status) return status.error();
    return std::move(transcript_);
  }

 private:
  Status take(std::string_view line) {
    if (script_ != nullptr && line.starts_with("  ")) return take_script_line(line.substr(2));
    script_ = nullptr;
    line = trimmed(line);
    if (line.empty() || line.starts_with('#')) return Done{};
    if (const auto end = end_of_client(line, "> ")) return take_request(line, *end);
    if (const auto end = end_of_client(line, "< ")) return take_message(line, *end);
    if (const auto rest = after(line, "node:")) return take_half(node_half_, *rest);
    if (const auto rest = after(line, "redis:")) return take_half(redis_half_, *rest);
    if (const auto rest = after(line, "why:")) return take_reason(*rest);
    return take_other(line);
  }

  Status take_other(std::string_view line) {
    if (const auto rest = after(line, "wait")) return take_wait(*rest);
    if (const auto rest = after(line, "resp3")) return add({.kind = Step::Kind::resp3}, *rest);
    if (const auto rest = after(line, "script")) {
      script_ = &scripts_[std::string(*rest)];
      script_->clear();
      return Done{};
    }
    if (const auto rest = after(line, "node")) return take_settings(*rest, true, false);
    if (const auto rest = after(line, "redis")) return take_settings(*rest, false, true);
    if (const auto rest = after(line, "both")) return take_settings(*rest, true, true);
    return take_answer(line);
  }

  Status take_script_line(std::string_view line) {
    if (!script_->empty()) *script_ += '\n';
    *script_ += line;
    return Done{};
  }

  Status take_settings(std::string_view text, bool node, bool redis) {
    if (!transcript_.steps.empty()) return Failure{"a setting after the first request"};
    while (!text.empty()) {
      const auto comma = text.find(',');
      auto words = split_quoted_words(text.substr(0, comma));
      if (!words || words->empty()) return Failure{"a setting without a name"};
      SettingLine setting{words->front(), {words->begin() + 1, words->end()}};
      if (node) transcript_.node_settings.push_back(setting);
      if (redis) transcript_.redis_settings.push_back(std::move(setting));
      text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    }
    return Done{};
  }

  Status take_request(std::string_view line, std::size_t end) {
    auto words = split_quoted_words(trimmed(line.substr(end + 1)));
    if (!words || words->empty()) return Failure{"a request without words, or with open quotes"};
    for (std::string& word : *words) {
      if (!word.starts_with('$')) continue;
      const auto script = scripts_.find(word.substr(1));
      if (script != scripts_.end()) word = script->second;
    }
    return add({.text = std::string(line), .words = std::move(*words)}, line.substr(0, end));
  }

  Status take_message(std::string_view line, std::size_t end) {
    const std::string message(trimmed(line.substr(end + 1)));
    return add({.kind = Step::Kind::message,
                .text = std::string(line),
                .answer = Expected{message, message}},
               line.substr(0, end));
  }

  Status take_wait(std::string_view text) {
    const auto wait = parse_duration(text);
    if (!wait) return wait.error();
    return add({.kind = Step::Kind::wait, .wait = wait.value()}, {});
  }

  Status add(Step step, std::string_view client) {
    if (Status status = end_answer(); !status) return status;
    step.line = line_number_;
    step.client = client;
    transcript_.steps.push_back(std::move(step));
    return Done{};
  }

  Step* open_request() {
    if (transcript_.steps.empty()) return nullptr;
    Step& last = transcript_.steps.back();
    return last.kind == Step::Kind::request && !last.answer ? &last : nullptr;
  }

  Status take_answer(std::string_view line) {
    Step* request = open_request();
    if (request == nullptr) return Failure{"an answer that no request waits for"};
    request->answer = {std::string(line), std::string(line)};
    return Done{};
  }

  Status take_half(std::optional<std::string>& half, std::string_view text) {
    if (open_request() == nullptr || half) return Failure{"an answer that no request waits for"};
    half = text;
    return Done{};
  }

  Status take_reason(std::string_view reason) {
    if (!node_half_ || !redis_half_ || reason.empty()) {
      return Failure{"a difference has node:, redis: and a reason"};
    }
    open_request()->answer = {std::move(*node_half_), std::move(*redis_half_)};
    node_half_.reset();
    redis_half_.reset();
    return Done{};
  }

  Status end_answer() {
    const Step* request = open_request();
    if (request == nullptr) return Done{};
    return Failure{fmt::format("the request of line {} has no answer{}", request->line,
                               node_half_ || redis_half_ ? ", or no reason why they differ" : "")};
  }

  Transcript transcript_;
  std::map<std::string, std::string> scripts_;
  std::string* script_ = nullptr;  // whose lines are being read
  std::optional<std::string> node_half_;
  std::optional<std::string> redis_half_;
  int line_number_ = 0;
};

// The integer that the text begins with, and how long it is.
struct LeadingNumber {
  std::int64_t value;
  std::size_t length;
};

std::optional<LeadingNumber> leading_number(std::string_view text) {
  std::size_t length = text.starts_with('-') ? 1 : 0;
  while (length < text.size() && text[length] >= '0' && text[length] <= '9') ++length;
  const auto value = parse_int64(text.substr(0, length));
  if (!value) return std::nullopt;
  return LeadingNumber{*value, length};
}

struct Range {
  std::int64_t low;
  std::int64_t high;
  std::size_t length;
};

std::optional<Range> leading_range(std::string_view text) {
  const auto low = leading_number(text);
  if (!low || !text.substr(low->length).starts_with("..")) return std::nullopt;
  const auto high = leading_number(text.substr(low->length + 2));
  if (!high) return std::nullopt;
  return Range{low->value, high->value, low->length + 2 + high->length};
}

}  // namespace

Result<Transcript> read_transcript(std::string_view text) {
  return Reader().read(text);
}

bool matches(std::string_view pattern, std::string_view answer) {
  constexpr std::string_view kAny = "<any>";
  while (!pattern.empty()) {
    if (pattern.starts_with(kAny)) {
      pattern.remove_prefix(kAny.size());
      for (std::size_t skipped = 0; skipped <= answer.size(); ++skipped) {
        if (matches(pattern, answer.substr(skipped))) return true;
      }
      return false;
    }
    if (const auto range = leading_range(pattern)) {
      const auto number = leading_number(answer);
      if (!number || number->value < range->low || number->value > range->high) return false;
      pattern.remove_prefix(range->length);
      answer.remove_prefix(number->length);
      continue;
    }
    if (answer.empty() || pattern.front() != answer.front()) return false;
    pattern.remove_prefix(1);
    answer.remove_prefix(1);
  }
  return answer.empty();
}

}  // namespace redlock::transcript
