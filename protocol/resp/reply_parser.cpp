#include "protocol/resp/reply_parser.h"

#include "base/text/number.h"
#include "base/text/printable.h"
#include "protocol/resp/limits.h"

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
constexpr char kAttribute = '|';

bool is_aggregate(char type) {
  return type == '*' || type == '~' || type == '>' || type == '%' || type == kAttribute;
}

Reply aggregate(char type, std::vector<Reply> items) {
  switch (type) {
    case '*':
      return Reply::array(std::move(items));
    case '~':
      return Reply::set(std::move(items));
    case '>':
      return Reply::push(std::move(items));
    default:
      return Reply::map(std::move(items));
  }
}

std::string not_a_number(std::string_view line) {
  return fmt::format("'{}' is not a number", printable(line.substr(0, 32)));
}

}  // namespace

// Reads what one line begins: a value, with its text if it has one, or the head of an aggregate.
// Every step returns false when it cannot go on; `state` says why.
class ReplyParser::Reader {
 public:
  Reader(std::string_view bytes, std::size_t position, std::size_t searched)
      : bytes_(bytes), position_(position), searched_(searched) {}

  bool read(Reply& reply);

  State state() const { return state_; }
  std::size_t position() const { return position_; }
  std::size_t searched() const { return searched_; }
  std::string& problem() { return problem_; }
  // Of an aggregate's head: its type, and how many elements are to come; 0: a value was read.
  char type() const { return type_; }
  std::int64_t count() const { return count_; }

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
  bool read_head(std::string_view line, Reply& reply);

  std::string_view bytes_;
  std::size_t position_;
  std::size_t searched_;  // no line ends before it
  char type_ = 0;
  std::int64_t count_ = 0;
  State state_ = State::complete;
  std::string problem_;
};

bool ReplyParser::Reader::incomplete() {
  if (bytes_.size() > kReplyBytesMax) return broken("a reply larger than is taken");
  state_ = State::incomplete;
  return false;
}

bool ReplyParser::Reader::broken(std::string why) {
  state_ = State::broken;
  problem_ = std::move(why);
  return false;
}

bool ReplyParser::Reader::read_line(std::string_view& line) {
  const std::size_t end = bytes_.find("\r\n", std::max(position_, searched_));
  if (end == std::string_view::npos) {
    searched_ = bytes_.size() - 1;  // its \r may have come
    return incomplete();
  }
  line = bytes_.substr(position_, end - position_);
  position_ = end + 2;
  return true;
}

bool ReplyParser::Reader::read_number(std::string_view line, std::int64_t& number) {
  const auto parsed = parse_int64(line);
  if (!parsed) return broken(not_a_number(line));
  number = *parsed;
  return true;
}

bool ReplyParser::Reader::read_text(std::string_view line, std::string_view& text) {
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

bool ReplyParser::Reader::read_bulk(std::string_view line, Reply& reply) {
  if (line == "-1") {
    reply = Reply::null();
    return true;
  }
  std::string_view text;
  if (!read_text(line, text)) return false;
  reply = Reply::bulk(std::string(text));
  return true;
}

bool ReplyParser::Reader::read_verbatim(std::string_view line, Reply& reply) {
  std::string_view text;
  if (!read_text(line, text)) return false;
  if (text.size() < 4 || text[3] != ':') return broken("a verbatim text without its format");
  reply = Reply::verbatim(std::string(text.substr(4)));
  return true;
}

bool ReplyParser::Reader::read_blob_error(std::string_view line, Reply& reply) {
  std::string_view text;
  if (!read_text(line, text)) return false;
  reply = Reply::error(std::string(text));
  return true;
}

bool ReplyParser::Reader::read_big_number(std::string_view line, Reply& reply) {
  const std::string_view digits = line.starts_with('-') ? line.substr(1) : line;
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string_view::npos) {
    return broken(not_a_number(line));
  }
  reply = Reply::big_number(std::string(line));
  return true;
}

bool ReplyParser::Reader::read_boolean(std::string_view line, Reply& reply) {
  if (line != "t" && line != "f") return broken("a boolean that is neither t nor f");
  reply = Reply::boolean(line == "t");
  return true;
}

bool ReplyParser::Reader::read_real(std::string_view line, Reply& reply) {
  double value = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value);
  if (error != std::errc() || end != line.data() + line.size()) {
    return broken(not_a_number(line));
  }
  reply = Reply::real(value);
  return true;
}

// A map's elements are counted by two, key and value; what stands behind an attribute is one of its
// own, or a chain of them would be nested without a bound.
bool ReplyParser::Reader::read_head(std::string_view line, Reply& reply) {
  std::int64_t count = 0;
  if (!read_number(line, count)) return false;
  if (count == -1 && type_ == '*') {
    reply = Reply::null_array();
    return true;
  }
  if (count < 0 || count > kReplyElementsMax) {
    return broken(fmt::format("a reply of {} elements", count));
  }
  const bool is_map = type_ == '%' || type_ == kAttribute;
  count_ = is_map ? count * 2 : count;
  if (count_ == 0 && type_ != kAttribute) reply = aggregate(type_, {});
  return true;
}

bool ReplyParser::Reader::read(Reply& reply) {
  if (position_ == bytes_.size()) return incomplete();
  type_ = bytes_[position_++];
  std::string_view line;
  if (!read_line(line)) return false;
  if (is_aggregate(type_)) return read_head(line, reply);
  std::int64_t number = 0;
  switch (type_) {
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
    default:
      return broken(
          fmt::format("a reply that starts with byte 0x{:02x}", static_cast<unsigned char>(type_)));
  }
}

void ReplyParser::begin() {
  position_ = 0;
  searched_ = 0;
  elements_ = 0;
  open_.clear();
  is_within_reply_ = true;
}

State ReplyParser::broken(std::string why) {
  problem_ = std::move(why);
  is_within_reply_ = false;
  return State::broken;
}

State ReplyParser::parse(std::string_view bytes) {
  if (!is_within_reply_) begin();
  while (true) {
    if (open_.size() > static_cast<std::size_t>(kReplyDepthMax)) {
      return broken("a reply nested deeper than is taken");
    }
    Reader reader(bytes, position_, searched_);
    Reply value;
    if (!reader.read(value)) {
      if (reader.state() == State::broken) return broken(std::move(reader.problem()));
      searched_ = reader.searched();
      return State::incomplete;
    }
    position_ = reader.position();
    elements_ += reader.count();
    if (elements_ > kReplyElementsMax) {
      return broken(fmt::format("a reply of {} elements", reader.count()));
    }
    const bool is_open = reader.count() > 0 || reader.type() == kAttribute;
    if (is_open) {
      open(reader.type(), reader.count());
    } else if (close_with(std::move(value))) {
      is_within_reply_ = false;
      return State::complete;
    }
  }
}

void ReplyParser::open(char type, std::int64_t count) {
  open_.push_back({type, count + (type == kAttribute ? 1 : 0), {}});
  open_.back().items.reserve(static_cast<std::size_t>(std::min(count, kItemsReservedMax)));
}

// Hands the value to the innermost aggregate, that one, if it is full now, to the next, and so on.
// True when the reply is complete.
bool ReplyParser::close_with(Reply value) {
  while (!open_.empty()) {
    Open& innermost = open_.back();
    innermost.items.push_back(std::move(value));
    if (--innermost.left > 0) return false;
    value = innermost.type == kAttribute ? std::move(innermost.items.back())
                                         : aggregate(innermost.type, std::move(innermost.items));
    open_.pop_back();
  }
  reply_ = std::move(value);
  return true;
}

ParsedReply parse_reply(std::string_view bytes) {
  ReplyParser parser;
  const State state = parser.parse(bytes);
  if (state != State::complete) return {state, 0, {}, parser.problem()};
  return {state, parser.consumed(), parser.take_reply(), {}};
}

}  // namespace redlock::protocol
