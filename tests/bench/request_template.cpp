#include "tests/bench/request_template.h"

#include "protocol/resp/output_buffer.h"
#include "protocol/resp/request_writer.h"

namespace redlock::bench {
namespace {

constexpr std::size_t kKeyDigits = 12;
constexpr std::size_t kDeadlineDigits = 13;

// Digits of each have a byte that no command sends, until they are found in the encoded bytes.
constexpr char kKeyMark = '\1';
constexpr char kDeadlineMark = '\2';

void replace(std::string& word, std::string_view name, const std::string& by) {
  for (std::size_t at = word.find(name); at != std::string::npos; at = word.find(name)) {
    word.replace(at, name.size(), by);
  }
}

// Where each run of marks begins.
std::vector<std::size_t> find_marks(std::string_view bytes, char mark, std::size_t length) {
  std::vector<std::size_t> found;
  std::size_t at = bytes.find(mark);
  for (; at != std::string_view::npos; at = bytes.find(mark, at + length)) found.push_back(at);
  return found;
}

void write_digits(char* to, std::size_t digits, std::uint64_t number) {
  for (std::size_t i = digits; i > 0; --i, number /= 10) {
    to[i - 1] = static_cast<char>('0' + number % 10);
  }
}

std::string encode(const std::vector<RequestTemplate::Command>& commands) {
  const std::string key(kKeyDigits, kKeyMark);
  protocol::OutputBuffer out;
  for (RequestTemplate::Command words : commands) {
    for (std::string& word : words) {
      replace(word, "{key}", "lock:" + key);
      replace(word, "{value}", "0123456789abcdef0123456789ab" + key);
      replace(word, "{deadline}", std::string(kDeadlineDigits, kDeadlineMark));
    }
    const std::vector<std::string_view> views(words.begin(), words.end());
    protocol::write_request(views, out);
  }
  return std::string(out.view());
}

}  // namespace

RequestTemplate::RequestTemplate(const std::vector<Command>& commands)
    : commands_(commands.size()),
      bytes_(encode(commands)),
      keys_(find_marks(bytes_, kKeyMark, kKeyDigits)),
      deadlines_(find_marks(bytes_, kDeadlineMark, kDeadlineDigits)) {}

RequestBatch::RequestBatch(const RequestTemplate& round, std::size_t rounds) : round_(&round) {
  for (std::size_t i = 0; i < rounds; ++i) bytes_ += round.bytes();
  for (std::size_t i = 0; i < rounds; ++i) set(i, {});
}

void RequestBatch::set(std::size_t round, Fill fill) {
  char* const start = bytes_.data() + round * round_->bytes().size();
  for (const std::size_t at : round_->keys_) write_digits(start + at, kKeyDigits, fill.key);
  for (const std::size_t at : round_->deadlines_) {
    write_digits(start + at, kDeadlineDigits, fill.deadline_ms);
  }
}

std::string_view RequestBatch::view(std::size_t rounds) const {
  return std::string_view(bytes_).substr(0, rounds * round_->bytes().size());
}

}  // namespace redlock::bench
