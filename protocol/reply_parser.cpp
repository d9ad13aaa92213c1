#include "protocol/reply_parser.h"

#include "base/number.h"
#include "protocol/limits.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace redlock::protocol {
namespace {

using State = ParsedReply::State;

// Room for what common answers have; a number of elements alone shall not take memory.
constexpr std::int64_t kItemsReservedMax = 16;

// One pass over the bytes. Every step returns false when it cannot go on; `state` says why.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  bool read(Reply& reply, int depth);

  State state() const { return state_; }
  std::size_t position() const { return position_; }
  std::string& problem() { return problem_; }

 private:
  bool incomplete();
  bool broken(std::string why);
  bool read_line(std::string_view& line);
  bool read_number(std::string_view line, std::int64_t& number);
  bool read_text(std::string_view line, std::string_view& text);
  bool read_bulk(std::string_view line, Reply& reply);
  bool read_verbatim(std::string_view line, Reply& reply);
  bool read_blob_error(std::string_view line, Reply& reply);
  bool read_big_number(std::string_view line, Reply& reply);
  bool read_boolean(std::string_view line, Reply& reply);
  bool read_real(std::string_view line, Reply& reply);
  bool read_items(std::int64_t count, std::vector<Reply>& items, int depth);
  bool read_aggregate(char type, std::string_view line, Reply& reply, int depth);

  std::string_view bytes_;
  std::size_t position_ = 0;
  std::int64_t elements_ = 0;
  State state_ = State::complete;
  std::string problem_;
};

bool Reader::incomplete() {
  if (bytes_.size() > kReplyBytesMax) return broken("a reply larger than is taken");
  state_ = State::incomplete;
  return false;
}

bool Reader::broken(std::string why) {
  state_ = State::broken;
  problem_ = std::move(why);
  return false;
}

bool Reader::read_line(std::string_view& line) {
  const std::size_t end = bytes_.find("\r\n", position_);
  if (end == std::string_view::npos) return incomplete();
  line = bytes_.substr(position_, end - position_);
  position_ = end + 2;
  return true;
}

bool Reader::read_number(std::string_view line, std::int64_t& number) {
  const auto parsed = parse_int64(line);
  if (!parsed) return broken(fmt::format("'{}' is not a number", line.substr(0, 32)));
  number = *parsed;
  return true;
}

bool Reader::read_text(std::string_view line, std::string_view& text) {
  std::int64_t length = 0;
  if (!read_number(line, length)) return false;
  if (length < 0 || length > static_cast<std::int64_t>(kReplyBytesMax)) {
    return broken(fmt::format("a text of {} bytes", length));
  }
  const auto size = static_cast<std::size_t>(length);
  if (bytes_.size() - position_ < size + 2) return incomplete();
  text = bytes_.substr(position_, size);
  if (bytes_.substr(position_ + size, 2) != "\r\n") return broken("a text without its end");
  position_ += size + 2;
  return true;
}

bool Reader::read_bulk(std::string_view line, Reply& reply) {
  if (line == "-1") {
    reply = Reply::null();
    return true;
  }
  std::string_view text;
  if (!read_text(line, text)) return false;
  reply = Reply::bulk(std::string(text));
  return true;
}

bool Reader::read_verbatim(std::string_view line, Reply& reply) {
  std::string_view text;
  if (!read_text(line, text)) return false;
  if (text.size() < 4 || text[3] != ':') return broken("a verbatim text without its format");
  reply = Reply::verbatim(std::string(text.substr(4)));
  return true;
}

bool Reader::read_blob_error(std::string_view line, Reply& reply) {
  std::string_view text;
  if (!read_text(line, text)) return false;
  reply = Reply::error(std::string(text));
  return true;
}

bool Reader::read_big_number(std::string_view line, Reply& reply) {
  const std::string_view digits = line.starts_with('-') ? line.substr(1) : line;
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string_view::npos) {
    return broken(fmt::format("'{}' is not a number", line.substr(0, 32)));
  }
  reply = Reply::big_number(std::string(line));
  return true;
}

bool Reader::read_boolean(std::string_view line, Reply& reply) {
  if (line != "t" && line != "f") return broken("a boolean that is neither t nor f");
  reply = Reply::boolean(line == "t");
  return true;
}

bool Reader::read_real(std::string_view line, Reply& reply) {
  double value = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value);
  if (error != std::errc() || end != line.data() + line.size()) {
    return broken(fmt::format("'{}' is not a number", line.substr(0, 32)));
  }
  reply = Reply::real(value);
  return true;
}

bool Reader::read_items(std::int64_t count, std::vector<Reply>& items, int depth) {
  elements_ += count;
  if (elements_ > kReplyElementsMax) {
    return broken(fmt::format("a reply of {} elements", count));
  }
  items.reserve(static_cast<std::size_t>(std::min(count, kItemsReservedMax)));
  for (std::int64_t i = 0; i < count; ++i) {
    if (!read(items.emplace_back(), depth + 1)) return false;
  }
  return true;
}

bool Reader::read_aggregate(char type, std::string_view line, Reply& reply, int depth) {
  std::int64_t count = 0;
  if (!read_number(line, count)) return false;
  if (count == -1 && type == '*') {
    reply = Reply::null_array();
    return true;
  }
  if (count < 0 || count > kReplyElementsMax) {
    return broken(fmt::format("a reply of {} elements", count));
  }
  const bool is_map = type == '%';
  std::vector<Reply> items;
  if (!read_items(is_map ? count * 2 : count, items, depth)) return false;
  switch (type) {
    case '*':
      reply = Reply::array(std::move(items));
      break;
    case '~':
      reply = Reply::set(std::move(items));
      break;
    case '>':
      reply = Reply::push(std::move(items));
      break;
    default:
      reply = Reply::map(std::move(items));
  }
  return true;
}

bool Reader::read(Reply& reply, int depth) {
  if (depth > kReplyDepthMax) return broken("a reply nested deeper than is taken");
  if (position_ == bytes_.size()) return incomplete();
  const char type = bytes_[position_++];
  std::string_view line;
  if (!read_line(line)) return false;
  std::int64_t number = 0;
  switch (type) {
    case '+':
      reply = Reply::status(std::string(line));
      return true;
    case '-':
      reply = Reply::error(std::string(line));
      return true;
    case '(':
      return read_big_number(line, reply);
    case '_':
      reply = Reply::null();
      return line.empty() || broken("a null with something in it");
    case ',':
      return read_real(line, reply);
    case ':':
      if (!read_number(line, number)) return false;
      reply = Reply::integer(number);
      return true;
    case '#':
      return read_boolean(line, reply);
    case '$':
      return read_bulk(line, reply);
    case '!':
      return read_blob_error(line, reply);
    case '=':
      return read_verbatim(line, reply);
    case '|':  // an attribute counts as a level, or a chain of them would be a recursion without
               // end
      return read_aggregate('%', line, reply, depth) && read(reply, depth + 1);
    case '*':
    case '~':
    case '>':
    case '%':
      return read_aggregate(type, line, reply, depth);
    default:
      return broken(
          fmt::format("a reply that starts with byte 0x{:02x}", static_cast<unsigned char>(type)));
  }
}

}  // namespace

ParsedReply parse_reply(std::string_view bytes) {
  Reader reader(bytes);
  Reply reply;
  if (!reader.read(reply, 0)) return {reader.state(), 0, {}, std::move(reader.problem())};
  return {State::complete, reader.position(), std::move(reply), {}};
}

}  // namespace redlock::protocol
