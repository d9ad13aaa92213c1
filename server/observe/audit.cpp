#include "server/observe/audit.h"

#include "base/invariant.h"
#include "base/text/date_text.h"
#include "base/text/json.h"
#include "base/text/printable.h"
#include "base/text/quoted_words.h"

#include <algorithm>
#include <sys/types.h>

#include <fmt/format.h>
#include <sha1.h>

namespace redlock::server {
namespace {

std::string_view name_of(Audit::Event event) {
  switch (event) {
    case Audit::Event::lock_broken:
      return "lock-broken";
    case Audit::Event::break_refused:
      return "break-refused";
    case Audit::Event::password_refused:
      return "password-refused";
    case Audit::Event::setting_changed:
      return "setting-changed";
    case Audit::Event::acl_changed:
      return "acl-changed";
    case Audit::Event::shutdown:
      return "shutdown";
    case Audit::Event::events:
      break;
  }
  return "";
}

std::string cut(std::string_view value) {
  if (value.size() <= Audit::kNameBytesMax) return std::string(value);
  return fmt::format("{}...", value.substr(0, Audit::kNameBytesMax));
}

// As one word, so that a line falls into its fields at its blanks.
std::string word_of(const std::string& value) {
  constexpr std::string_view kQuotedFor = " \"'\\=";
  const bool is_plain =
      !value.empty() && is_printable(value) && value.find_first_of(kQuotedFor) == std::string::npos;
  return is_plain ? value : quoted_word(value);
}

std::string text_line(std::span<const Audit::Field> fields) {
  std::string line;
  for (const Audit::Field& field : fields) {
    fmt::format_to(std::back_inserter(line), "{}{}={}", line.empty() ? "" : " ", field.name,
                   word_of(cut(field.value)));
  }
  return line;
}

// JSON escapes ASCII's control characters alone; what turns a line's direction would stay.
std::string json_line(std::span<const Audit::Field> fields) {
  JsonObject line;
  for (const Audit::Field& field : fields) {
    const std::string value = cut(field.value);
    line.add(field.name, is_printable(value) ? value : printable(value));
  }
  return line.text();
}

}  // namespace

bool Audit::takes(Event event, Now now) {
  const auto nth = static_cast<std::size_t>(event);
  tell_left_out(nth, now);
  return limits_[nth].lets_pass(now.monotonic);
}

void Audit::tell_taken(Event event, const Who& who, Fields fields, WallTime now) {
  const std::string id = std::to_string(who.id);
  std::vector<Field> all = {{"event", name_of(event)}, {"client", who.address}, {"id", id}};
  if (!who.name.empty()) all.push_back({"name", who.name});
  if (!who.user.empty()) all.push_back({"user", who.user});
  all.insert(all.end(), fields);
  write(all, now);
}

// Warnings, so that no loglevel hides them.
void Audit::write(std::span<const Field> fields, WallTime now) {
  INVARIANT(is_on(), "an audit that nobody wants");
  const std::string time = utc_ms_text(now, "%Y-%m-%dT%H:%M:%S") + "Z";
  std::vector<Field> all = {{"time", time}};
  all.insert(all.end(), fields.begin(), fields.end());
  sink_->log(LogLevel::warning, format_ == AuditFormat::json ? json_line(all) : text_line(all));
}

void Audit::tell_left_out(Now now) {
  for (std::size_t event = 0; event < kEvents; ++event) tell_left_out(event, now);
}

void Audit::tell_left_out(std::size_t event, Now now) {
  const auto when = limits_[event].tells_at();
  if (!when || now.monotonic < *when) return;
  const std::string count = std::to_string(limits_[event].take_left_out(now.monotonic));
  const std::string_view of = name_of(static_cast<Event>(event));
  const Field fields[] = {{"event", "left-out"}, {"lines", count}, {"of", of}};
  write(fields, now.wall);
}

std::optional<Instant> Audit::next_work() const {
  std::optional<Instant> next;
  for (const LineLimit& limit : limits_) next = earlier(next, limit.tells_at());
  return next;
}

std::string Audit::value_hash(std::string_view value) {
  constexpr std::size_t kDigits = 16;
  char digits[SHA1_DIGEST_STRING_LENGTH];
  SHA1Data(reinterpret_cast<const std::uint8_t*>(value.data()), value.size(), digits);
  return std::string(digits, kDigits);
}

}  // namespace redlock::server
