// Replies of every kind, for the tests of the writer and the parser.
#pragma once

#include "protocol/resp/output_buffer.h"
#include "protocol/resp/reply.h"
#include "protocol/resp/reply_writer.h"

#include <limits>
#include <string>
#include <vector>

namespace redlock::protocol {

inline std::string written(const Reply& reply, Version version) {
  OutputBuffer out;
  write_reply(reply, version, out);
  return std::string(out.view());
}

inline Reply nested_reply() {
  Reply map = Reply::map({});
  map.add(Reply::bulk("key")).add(Reply::integer(1));
  map.add(Reply::array()).add(Reply::null());
  Reply set = Reply::set({});
  set.add(Reply::status("one")).add(Reply::boolean(false));
  Reply out = Reply::array();
  out.add(std::move(map)).add(std::move(set)).add(Reply::error("ERR inside"));
  return out;
}

// All that RESP3 can carry and that comes back the same.
inline std::vector<Reply> resp3_samples() {
  std::vector<Reply> samples;
  samples.push_back(Reply::ok());
  samples.push_back(Reply::status(""));
  samples.push_back(Reply::error("ERR unknown command 'x', with args beginning with: "));
  samples.push_back(Reply::integer(0));
  samples.push_back(Reply::integer(std::numeric_limits<std::int64_t>::min()));
  samples.push_back(Reply::integer(std::numeric_limits<std::int64_t>::max()));
  samples.push_back(Reply::bulk(""));
  samples.push_back(Reply::bulk(std::string("\0\r\n$5\r\n\xff", 8)));
  samples.push_back(Reply::bulk(std::string(5000, 'x')));
  samples.push_back(Reply::null());
  samples.push_back(Reply::boolean(true));
  samples.push_back(Reply::boolean(false));
  samples.push_back(Reply::real(0.1));
  samples.push_back(Reply::real(-1e300));
  samples.push_back(Reply::real(std::numeric_limits<double>::infinity()));
  samples.push_back(Reply::real(-std::numeric_limits<double>::infinity()));
  samples.push_back(Reply::big_number("-3492890328409238509324850943850943825024385"));
  samples.push_back(Reply::verbatim(""));
  samples.push_back(Reply::verbatim("id=1 addr=127.0.0.1:1\n"));
  samples.push_back(Reply::array());
  samples.push_back(nested_reply());
  std::vector<Reply> pushed;
  pushed.push_back(Reply::bulk("lock.free"));
  pushed.push_back(nested_reply());
  samples.push_back(Reply::push(std::move(pushed)));
  return samples;
}

}  // namespace redlock::protocol
