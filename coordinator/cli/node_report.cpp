#include "coordinator/cli/node_report.h"

#include "base/net/text_file.h"
#include "base/text/json.h"
#include "base/text/printable.h"
#include "coordinator/cli/messages.h"
#include "coordinator/cli/output.h"

#include <algorithm>

#include <fmt/format.h>

namespace redlock::coordinator {
namespace {

// A node's longer words push only their own line's time to the right.
constexpr std::size_t kTextWidthMax = 48;

double milliseconds(std::chrono::nanoseconds d) {
  return std::chrono::duration<double, std::milli>(d).count();
}

void print_error(const std::string& text) {
  say(MessageStream::error, text);
}

void print_json(const Options& options, const Error& error) {
  JsonArray nodes;
  for (const NodeAnswer& answer : error.nodes) {
    nodes.add(JsonObject{{"node", answer.node},
                         {"answer", answer_name(answer.kind)},
                         {"text", answer.text},
                         {"took_ms", milliseconds(answer.took)}});
  }
  const JsonObject all = {{"name", options.name},
                          {"outcome", error_name(error.code)},
                          {"message", error.text},
                          {"nodes", nodes}};
  say(MessageStream::output, all.text() + "\n");
}

// Whether a line per node says more than the sentence above it. Of a lock that is held votes are no
// news; and where the sentence has the reason already, a table of five times the same has none.
bool tells_more(const Error& error) {
  const auto is_news = [&error](const NodeAnswer& answer) {
    const bool is_vote = answer.kind == AnswerKind::yes || answer.kind == AnswerKind::no;
    return answer.kind != AnswerKind::none && !(is_vote && error.code == ErrorCode::held);
  };
  if (std::none_of(error.nodes.begin(), error.nodes.end(), is_news)) return false;
  const bool has_reason = error.code == ErrorCode::denied || error.code == ErrorCode::invalid;
  return !has_reason ||
         std::any_of(error.nodes.begin(), error.nodes.end(), [&error](const NodeAnswer& answer) {
           return answer.text != error.nodes.front().text;
         });
}

}  // namespace

void report_failure(const Options& options, const Error& error) {
  if (options.json) return print_json(options, error);
  complain(options.name.empty() ? error.text
                                : fmt::format("{}: {}", shown_name(options.name), error.text));
  if (!options.verbose && !tells_more(error)) return;
  std::size_t node_width = 0;
  std::size_t text_width = 0;
  for (const NodeAnswer& answer : error.nodes) {
    node_width = std::max(node_width, answer.node.size());
    text_width = std::max(text_width, answer.text.size());
  }
  text_width = std::min(text_width, kTextWidthMax);
  for (const NodeAnswer& answer : error.nodes) {
    const bool answered = answer.kind != AnswerKind::none;
    print_error(fmt::format("  {:<{}}  {:<{}}  {:>10}\n", answer.node, node_width, answer.text,
                            text_width,
                            answered ? fmt::format("{:.1f} ms", milliseconds(answer.took)) : "-"));
  }
}

void tell_shell_of_failure(const Options& options, Over over, int exit_code) {
  if (options.json) return;
  print_text(failure_line(over, exit_code));
  flush_output();
}

int exit_code_of(const Error& error, int if_held) {
  switch (error.code) {
    case ErrorCode::held:
      return if_held;
    case ErrorCode::not_held:
    case ErrorCode::not_admitted:
      return exit_code::kNo;
    case ErrorCode::denied:
      return exit_code::kDenied;
    case ErrorCode::other_group:
      return exit_code::kConfiguration;
    case ErrorCode::invalid:  // here, or at the nodes
      return error.nodes.empty() ? exit_code::kUsage : exit_code::kConfiguration;
    default:
      return exit_code::kNoQuorum;
  }
}

void complain(std::string_view text) {
  print_error(fmt::format("redlock: {}\n", text));
}

bool write_file(const std::string& path, const std::string& text) {
  const Status written = net::write_text_file(path, text);
  if (!written) complain(fmt::format("{}: cannot be written: {}", path, written.error().text));
  return bool(written);
}

}  // namespace redlock::coordinator
