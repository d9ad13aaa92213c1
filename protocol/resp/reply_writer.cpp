#include "protocol/resp/reply_writer.h"

#include "base/invariant.h"

#include <cmath>

#include <fmt/format.h>

namespace redlock::protocol {
namespace {

void write_line_text(char type, std::string_view text, OutputBuffer& out) {
  out.append(type);
  if (text.find_first_of("\r\n") == std::string_view::npos) {
    out.append(text);
  } else {
    for (const char c : text) out.append(c == '\r' || c == '\n' ? ' ' : c);
  }
  out.append("\r\n");
}

void write_bulk(std::string_view text, OutputBuffer& out) {
  out.append_line('$', static_cast<std::int64_t>(text.size()));
  out.append(text);
  out.append("\r\n");
}

void write_verbatim(std::string_view text, OutputBuffer& out) {
  out.append_line('=', static_cast<std::int64_t>(text.size()) + 4);
  out.append("txt:");
  out.append(text);
  out.append("\r\n");
}

std::string real_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return fmt::format("{:.17g}", value);
}

void write_items(char type, const Reply& reply, Version version, OutputBuffer& out) {
  const auto count = static_cast<std::int64_t>(reply.items().size());
  out.append_line(type, type == '%' ? count / 2 : count);
  for (const Reply& item : reply.items()) write_reply(item, version, out);
}

}  // namespace

void write_reply(const Reply& reply, Version version, OutputBuffer& out) {
  const bool resp3 = version == Version::resp3;
  switch (reply.kind()) {
    case Reply::Kind::none:
    case Reply::Kind::later:
    case Reply::Kind::postponed:
    case Reply::Kind::too_large:
      return;
    case Reply::Kind::status:
      return write_line_text('+', reply.text(), out);
    case Reply::Kind::error:
      return write_line_text('-', reply.text(), out);
    case Reply::Kind::integer:
      return out.append_line(':', reply.integer());
    case Reply::Kind::bulk:
      return write_bulk(reply.text(), out);
    case Reply::Kind::null:
      return out.append(resp3 ? "_\r\n" : "$-1\r\n");
    case Reply::Kind::null_array:
      return out.append(resp3 ? "_\r\n" : "*-1\r\n");
    case Reply::Kind::boolean:
      if (resp3) return out.append(reply.integer() != 0 ? "#t\r\n" : "#f\r\n");
      return out.append_line(':', reply.integer());
    case Reply::Kind::real:
      if (resp3) return write_line_text(',', real_text(reply.real()), out);
      return write_bulk(real_text(reply.real()), out);
    case Reply::Kind::big_number:
      if (resp3) return write_line_text('(', reply.text(), out);
      return write_bulk(reply.text(), out);
    case Reply::Kind::verbatim:
      return resp3 ? write_verbatim(reply.text(), out) : write_bulk(reply.text(), out);
    case Reply::Kind::array:
      return write_items('*', reply, version, out);
    case Reply::Kind::set:
      return write_items(resp3 ? '~' : '*', reply, version, out);
    case Reply::Kind::map:
      return write_items(resp3 ? '%' : '*', reply, version, out);
    case Reply::Kind::push:
      return write_items(resp3 ? '>' : '*', reply, version, out);
    case Reply::Kind::sequence:
      for (const Reply& item : reply.items()) write_reply(item, version, out);
      return;
  }
}

}  // namespace redlock::protocol
