#include "tests/differential/step.h"

#include "base/text/duration_text.h"
#include "base/text/number.h"
#include "base/text/quoted_words.h"
#include "protocol/resp/reply.h"

#include <algorithm>

#include <fmt/format.h>

namespace redlock::differential {
namespace {

constexpr std::string_view kMomentBegin = "<in ";
constexpr std::string_view kWait = "wait ";

bool is_plain(std::string_view word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
    return c > ' ' && c < 0x7f && c != '"' && c != '\'' && c != '\\';
  });
}

std::string written(const std::string& word) {
  return is_plain(word) ? word : protocol::Reply::bulk_view(word).to_string();
}

bool is_client_name(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= 'a' && c <= 'z'; });
}

Result<Step> read_request(std::string_view client, std::string_view line) {
  auto words = split_quoted_words(line);
  if (!words || words->empty()) return Failure{fmt::format("no request: {}", line)};
  Step step;
  step.is_bytes = client == kBytes;
  if (!step.is_bytes) step.client = client;
  step.words = std::move(*words);
  return step;
}

}  // namespace

std::string write_step(const Step& step) {
  std::string line = fmt::format("{}>", step.is_bytes ? std::string(kBytes) : step.client);
  for (const std::string& word : step.words) line += ' ' + written(word);
  line += '\n';
  if (step.wait > Duration::zero()) line += fmt::format("wait {}\n", duration_text(step.wait));
  return line;
}

std::string write_sequence(const Sequence& sequence) {
  std::string text;
  for (const Step& step : sequence) text += write_step(step);
  return text;
}

Result<Sequence> read_sequence(std::string_view text) {
  Sequence sequence;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.starts_with(kWait) && !sequence.empty()) {
      const auto wait = parse_duration(line.substr(kWait.size()));
      if (!wait) return wait.error();
      sequence.back().wait = wait.value();
      continue;
    }
    const std::size_t mark = line.find("> ");
    if (mark == std::string_view::npos || !is_client_name(line.substr(0, mark))) continue;
    auto step = read_request(line.substr(0, mark), line.substr(mark + 2));
    if (!step) return step.error();
    sequence.push_back(std::move(step.value()));
  }
  return sequence;
}

std::optional<std::int64_t> moment_of(std::string_view word, std::string_view unit) {
  if (!word.starts_with(kMomentBegin) || !word.ends_with(unit)) return std::nullopt;
  return parse_int64(
      word.substr(kMomentBegin.size(), word.size() - kMomentBegin.size() - unit.size()));
}

std::string moment_in_ms(std::int64_t ms_from_now) {
  return fmt::format("<in {}ms>", ms_from_now);
}

std::string moment_in_s(std::int64_t s_from_now) {
  return fmt::format("<in {}s>", s_from_now);
}

Words at_moment(const Words& words, Duration since_epoch) {
  Words sent = words;
  for (std::string& word : sent) {
    if (const auto ms = moment_of(word, "ms>")) {
      word = std::to_string(floor_ms(since_epoch) + *ms);
    } else if (const auto s = moment_of(word, "s>")) {
      word = std::to_string(since_epoch / std::chrono::seconds(1) + *s);
    }
  }
  return sent;
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

std::vector<std::string_view> views(const Words& words) {
  return {words.begin(), words.end()};
}

}  // namespace redlock::differential
