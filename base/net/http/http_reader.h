// HttpReader: requests out of a connection's bytes, by the http-parser library: what it is strict
// about is refused. Pure.
//
//   HttpReader reader;
//   while (reader.read(bytes) == HttpReader::State::whole) answer(reader.request());
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace redlock::net {

struct HttpRequest {
  std::string method;              // as the library knows it: "GET"
  std::string path;                // of the target, without its query
  std::string host;                // the Host field; empty: none
  std::string authorization = {};  // the field of that name; empty: none
  bool keeps_alive = false;
};

class HttpReader {
 public:
  // Of a request, with its fields and its body. Browsers send some 2 KB to a page with cookies.
  static constexpr std::size_t kRequestBytesMax = 8192;

  // Of `broken` and `too_long` nothing more is read.
  enum class State : std::uint8_t { more, whole, broken, too_long };

  HttpReader();
  ~HttpReader();
  HttpReader(const HttpReader&) = delete;
  HttpReader& operator=(const HttpReader&) = delete;

  // Takes what belongs to the next request from the beginning of `bytes`.
  State read(std::string_view& bytes);
  // The last that was whole.
  const HttpRequest& request() const;

 private:
  class Parser;
  std::unique_ptr<Parser> parser_;
  State state_ = State::more;
  std::size_t size_ = 0;  // of the request that is being read
};

}  // namespace redlock::net
