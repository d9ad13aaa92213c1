#include "base/net/http/http_reader.h"

#include "base/text/words.h"

#include <algorithm>
#include <http_parser.h>
#include <utility>

namespace redlock::net {

// The library's callbacks, which get a field in pieces as its bytes come.
class HttpReader::Parser {
 public:
  Parser() {
    http_parser_init(&parser_, HTTP_REQUEST);
    parser_.data = this;
    http_parser_settings_init(&calls_);
    calls_.on_message_begin = [](http_parser* of) { return self(of).begin(); };
    calls_.on_url = [](http_parser* of, const char* at, std::size_t size) {
      return append(self(of).target_, at, size);
    };
    calls_.on_header_field = [](http_parser* of, const char* at, std::size_t size) {
      return self(of).on_name(at, size);
    };
    calls_.on_header_value = [](http_parser* of, const char* at, std::size_t size) {
      self(of).has_value_ = true;  // which may be empty
      return append(self(of).value_, at, size);
    };
    calls_.on_headers_complete = [](http_parser* of) { return self(of).end_field(); };
    calls_.on_message_complete = [](http_parser* of) { return self(of).end(); };
  }

  // So many bytes were the request's; it is whole, or wants more, unless is_broken.
  std::size_t read(std::string_view bytes) {
    return http_parser_execute(&parser_, &calls_, bytes.data(), bytes.size());
  }
  bool is_broken() const {
    return HTTP_PARSER_ERRNO(&parser_) != HPE_OK && HTTP_PARSER_ERRNO(&parser_) != HPE_PAUSED;
  }
  // Once for each.
  bool take_whole() {
    http_parser_pause(&parser_, 0);
    return std::exchange(is_whole_, false);
  }
  const HttpRequest& request() const { return request_; }

 private:
  static Parser& self(http_parser* of) { return *static_cast<Parser*>(of->data); }
  static int append(std::string& text, const char* at, std::size_t size) {
    text.append(at, size);
    return 0;
  }

  int begin() {
    request_ = {};
    target_.clear();
    name_.clear();
    value_.clear();
    has_value_ = false;
    hosts_ = 0;
    authorizations_ = 0;
    return 0;
  }
  int on_name(const char* at, std::size_t size) {
    if (has_value_ && end_field() != 0) return -1;
    return append(name_, at, size);
  }
  // Two hosts are two meanings of one request (RFC 9112 §3.2), and so are two passwords.
  int end_field() {
    if (equals_ignoring_case(name_, "Host")) {
      if (++hosts_ > 1) return -1;  // at the end of all fields 1 would mean: no body follows
      request_.host = value_;
    } else if (equals_ignoring_case(name_, "Authorization")) {
      if (++authorizations_ > 1) return -1;
      request_.authorization = value_;
    }
    name_.clear();
    value_.clear();
    has_value_ = false;
    return 0;
  }
  // Behind it the next request begins: that is read when this one is answered.
  int end() {
    request_.method = http_method_str(static_cast<http_method>(parser_.method));
    request_.path = target_.substr(0, target_.find('?'));
    request_.keeps_alive = http_should_keep_alive(&parser_) != 0;
    is_whole_ = true;
    http_parser_pause(&parser_, 1);
    return 0;
  }

  http_parser parser_{};
  http_parser_settings calls_{};
  HttpRequest request_;
  std::string target_;
  std::string name_;   // of the field that is being read
  std::string value_;  // the same
  bool has_value_ = false;
  int hosts_ = 0;
  int authorizations_ = 0;
  bool is_whole_ = false;
};

HttpReader::HttpReader() : parser_(std::make_unique<Parser>()) {}

HttpReader::~HttpReader() = default;

HttpReader::State HttpReader::read(std::string_view& bytes) {
  if (state_ != State::more || bytes.empty()) return state_;  // none: to the library it is the end
  const std::string_view room = bytes.substr(0, kRequestBytesMax - size_);
  const std::size_t taken = parser_->read(room);
  size_ += taken;
  bytes.remove_prefix(std::min(taken, bytes.size()));
  if (parser_->is_broken()) return state_ = State::broken;
  if (parser_->take_whole()) {
    size_ = 0;
    return State::whole;
  }
  if (size_ >= kRequestBytesMax) state_ = State::too_long;
  return state_;
}

const HttpRequest& HttpReader::request() const {
  return parser_->request();
}

}  // namespace redlock::net
