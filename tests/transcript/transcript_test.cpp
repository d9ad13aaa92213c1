// Plays a transcript and tells every answer that is not the expected one. README has the format.
//
//   transcript_test pure FILE
//   transcript_test tcp FILE
//   transcript_test redis FILE REDIS_SERVER
#include "tests/transcript/transcript.h"

#include "tests/transcript/target.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace redlock::transcript {
namespace {

constexpr int kPassed = 0;
constexpr int kFailed = 1;
constexpr int kUsage = 2;
constexpr int kSkipped = 77;

Result<std::string> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Failure{"it cannot be read"};
  return std::string(std::istreambuf_iterator<char>(file), {});
}

Result<std::unique_ptr<Target>> make_target(std::string_view kind, const std::string& program,
                                            const Transcript& transcript) {
  if (kind == "pure") return pure_node(transcript.node_settings);
  if (kind == "tcp") return embedded_node(transcript.node_settings);
  return redis_server_process(program, transcript.redis_settings);
}

std::string_view without_last_blanks(std::string_view text) {
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

// Empty when the step went as the file says; otherwise what came instead.
std::string play(const Step& step, bool is_redis, Target& target) {
  if (step.kind == Step::Kind::wait) {
    target.wait(step.wait);
    return {};
  }
  if (step.kind == Step::Kind::resp3) {
    const std::string answer = target.ask(step.client, {"HELLO", "3"});
    return answer.starts_with('{') ? std::string() : "  HELLO 3 answered " + answer;
  }
  const bool is_message = step.kind == Step::Kind::message;
  const std::string answer =
      is_message ? target.hear(step.client) : target.ask(step.client, step.words);
  const std::string& wanted = is_redis ? step.answer->redis : step.answer->node;
  if (matches(wanted, without_last_blanks(answer))) return {};
  return fmt::format("  {}\n  wanted {}\n  got    {}", step.text, wanted, answer);
}

int run(std::string_view kind, const std::string& path, const std::string& program) {
  const auto text = read_file(path);
  const auto transcript = text ? read_transcript(text.value()) : text.error();
  if (!transcript) {
    fmt::print(stderr, "{}: {}\n", path, transcript.error().text);
    return kUsage;
  }
  if (kind == "redis" && !std::filesystem::exists(program)) return kSkipped;
  const auto target = make_target(kind, program, transcript.value());
  if (!target) {
    fmt::print(stderr, "{}: {}\n", path, target.error().text);
    return kFailed;
  }
  int failures = 0;
  for (const Step& step : transcript.value().steps) {
    const std::string difference = play(step, kind == "redis", *target.value());
    if (difference.empty()) continue;
    fmt::print(stderr, "{}:{}: ({})\n{}\n", path, step.line, kind, difference);
    ++failures;
  }
  return failures == 0 ? kPassed : kFailed;
}

}  // namespace
}  // namespace redlock::transcript

int main(int count, char** words) {
  using namespace std::string_view_literals;
  const auto kind = count > 1 ? std::string_view(words[1]) : ""sv;
  const bool is_node = (kind == "pure" || kind == "tcp") && count == 3;
  const bool is_redis = kind == "redis" && count == 4;
  if (!is_node && !is_redis) {
    fmt::print(stderr, "usage: transcript_test pure FILE | tcp FILE | redis FILE SERVER\n");
    return redlock::transcript::kUsage;
  }
  return redlock::transcript::run(kind, words[2], is_redis ? words[3] : std::string());
}
