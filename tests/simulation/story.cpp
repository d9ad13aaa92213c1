#include "tests/simulation/story.h"

#include "protocol/resp/reply_parser.h"

#include <algorithm>

#include <fmt/format.h>

namespace redlock::simulation {
namespace {

using protocol::ParsedReply;
using protocol::Reply;

constexpr std::string_view kRelease = "LOCK.RELEASE";

// A request reads as its words, everything else as a reply.
std::string one_text(const Reply& reply) {
  const auto is_bulk = [](const Reply& item) { return item.is(Reply::Kind::bulk); };
  const auto& items = reply.items();
  if (!reply.is(Reply::Kind::array) || items.empty() ||
      !std::all_of(items.begin(), items.end(), is_bulk)) {
    return reply.to_string();
  }
  std::string text;
  for (const Reply& item : items) text += (text.empty() ? "" : " ") + std::string(item.text());
  return text;
}

}  // namespace

std::string seconds_text(Duration since) {
  const auto us = std::chrono::floor<std::chrono::microseconds>(since).count();
  return fmt::format("{}.{:06d} s", us / 1'000'000, us % 1'000'000);
}

std::string resp_text(std::string_view bytes) {
  std::string text;
  while (!bytes.empty()) {
    const ParsedReply parsed = protocol::parse_reply(bytes);
    if (!text.empty()) text += " | ";
    if (parsed.state != ParsedReply::State::complete) {
      return text + fmt::format("({} more bytes)", bytes.size());
    }
    text += one_text(parsed.reply);
    bytes.remove_prefix(parsed.consumed);
  }
  return text;
}

std::vector<std::string> released_values(std::string_view bytes) {
  if (bytes.find(kRelease) == std::string_view::npos) return {};
  std::string all(bytes);
  return take_released_values(all);
}

std::vector<std::string> take_released_values(std::string& bytes) {
  std::vector<std::string> values;
  std::string_view left = bytes;
  while (!left.empty()) {
    const ParsedReply parsed = protocol::parse_reply(left);
    if (parsed.state != ParsedReply::State::complete) break;
    const auto& words = parsed.reply.items();
    if (words.size() >= 3 && words[0].text() == kRelease) values.emplace_back(words[2].text());
    left.remove_prefix(parsed.consumed);
  }
  bytes.erase(0, bytes.size() - left.size());
  return values;
}

void Story::tell(TrueTime when, const std::string& who, std::optional<Instant> clock,
                 std::string_view what) {
  const std::string shown = clock ? seconds_text(clock->time_since_epoch()) : "";
  lines_.push_back(fmt::format("{:>13}  {:<9} {:>16}  {}", seconds_text(when.time_since_epoch()),
                               who, shown, what));
}

}  // namespace redlock::simulation
