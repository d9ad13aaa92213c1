#include "coordinator/client/node_address.h"

#include "base/text/number.h"
#include "base/text/printable.h"
#include "base/text/words.h"

#include <algorithm>

#include <fmt/format.h>

namespace redlock::coordinator {
namespace {

constexpr std::string_view kForm =
    "write it as redis://host:port, redis://user:password@host:port, rediss://… for TLS, or "
    "unix:///path";

int hex_value(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  return -1;
}

// %40 → '@': so that passwords with : @ / in them can be written.
std::string percent_decoded(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_escape = text[i] == '%' && i + 2 < text.size() && hex_value(text[i + 1]) >= 0 &&
                           hex_value(text[i + 2]) >= 0;
    if (!is_escape) {
      decoded += text[i];
      continue;
    }
    decoded += static_cast<char>(hex_value(text[i + 1]) * 16 + hex_value(text[i + 2]));
    i += 2;
  }
  return decoded;
}

// "user:password" or ":password" or "password".
Credentials parse_credentials(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return {{}, percent_decoded(text)};
  return {percent_decoded(text.substr(0, colon)), percent_decoded(text.substr(colon + 1))};
}

// What a resolver, or inet_pton, may know: names as DNS has them (RFC 1123, and the underscore of
// container networks), and IPv6 addresses, with their zone.
bool may_be_host(std::string_view host) {
  constexpr std::size_t kNameBytesMax = 253;
  constexpr std::size_t kLabelBytesMax = 63;
  constexpr std::string_view kOthers = "-_.:%*";
  if (host.size() > kNameBytesMax) return false;
  std::size_t label = 0;
  for (const char c : host) {
    const bool is_letter =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!is_letter && kOthers.find(c) == std::string_view::npos) return false;
    label = c == '.' ? 0 : label + 1;
    if (label > kLabelBytesMax) return false;
  }
  return true;
}

// What somebody wrote, on its way to a terminal or a log.
std::string shown(std::string_view text) {
  constexpr std::size_t kShown = 40;
  return printable(text.substr(0, kShown)) + (text.size() > kShown ? "…" : "");
}

std::string no_host_text(std::string_view host) {
  return fmt::format(
      "'{}' is no host name: letters, digits, - and _, at most 63 between two dots and 253 in "
      "all",
      shown(host));
}

Result<net::Address> parse_host_and_port(std::string_view text) {
  std::string_view host = text;
  std::string_view port;
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) return Failure{fmt::format("'{}': no ]", shown(text))};
    host = text.substr(1, end - 1);
    port = text.substr(end + 1);
    if (!port.empty() && port.front() != ':') {
      return Failure{fmt::format("'{}': {}", shown(text), kForm)};
    }
    if (!port.empty()) port.remove_prefix(1);
  } else if (const std::size_t colon = text.rfind(':'); colon != std::string_view::npos) {
    host = text.substr(0, colon);
    port = text.substr(colon + 1);
    if (port.empty()) return Failure{fmt::format("'{}' names no port: {}", shown(text), kForm)};
  }
  if (host.empty()) return Failure{fmt::format("'{}' names no host: {}", shown(text), kForm)};
  if (!may_be_host(host)) return Failure{no_host_text(host)};
  if (port.empty()) return net::Address{std::string(host), kDefaultPort};
  const auto number = parse_int64(port);
  if (!number || *number < 1 || *number > 65535) {
    return Failure{fmt::format("'{}': the port must be a number from 1 to 65535", shown(text))};
  }
  return net::Address{std::string(host), static_cast<std::uint16_t>(*number)};
}

}  // namespace

std::string NodeAddress::text() const {
  return (is_tls ? "rediss://" : "") + printable(address.text());
}

Result<NodeAddress> parse_node_address(std::string_view text) {
  constexpr std::string_view kScheme = "redis://";
  constexpr std::string_view kTlsScheme = "rediss://";
  constexpr std::string_view kUnixScheme = "unix://";
  const std::size_t scheme_end = text.find("://");
  const std::string_view scheme =
      text.substr(0, scheme_end == std::string_view::npos ? 0 : scheme_end);
  if (!scheme.empty() && scheme != "redis" && scheme != "rediss" && scheme != "unix") {
    return Failure{fmt::format("nodes do not speak {}://: {}", shown(scheme), kForm)};
  }
  // A path alone, as NodeAddress::text() has it: so are the addresses of a roster.
  const bool is_unix = text.starts_with(kUnixScheme) || text.starts_with('/');
  if (text.starts_with(kUnixScheme)) text.remove_prefix(kUnixScheme.size());
  if (text.starts_with(kScheme)) text.remove_prefix(kScheme.size());
  NodeAddress node;
  node.is_tls = text.starts_with(kTlsScheme);
  if (node.is_tls) text.remove_prefix(kTlsScheme.size());
  const std::size_t at = text.starts_with('/') ? std::string_view::npos : text.rfind('@');
  if (at != std::string_view::npos) {
    node.credentials = parse_credentials(text.substr(0, at));
    text.remove_prefix(at + 1);
  }
  if (is_unix) {
    if (!text.starts_with('/')) {
      return Failure{fmt::format("'unix://{}' is no absolute path: {}", shown(text), kForm)};
    }
    if (Status fits = net::check_unix_path(text); !fits) return fits.error();
    node.address = {std::string(text), 0};
    return node;
  }
  if (const std::size_t slash = text.rfind('/'); slash != std::string_view::npos) {
    const std::string_view database = text.substr(slash + 1);
    if (!database.empty() && database != "0" && parse_int64(database)) {
      return Failure{fmt::format("a lock node has one database: leave out /{}", shown(database))};
    }
    if (database.empty() || database == "0") text.remove_suffix(database.size() + 1);
  }
  Result<net::Address> address = parse_host_and_port(text);
  if (!address) return address.error();
  node.address = std::move(address).value();
  return node;
}

Result<std::vector<NodeAddress>> parse_node_addresses(std::string_view text) {
  std::vector<NodeAddress> nodes;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view one = trimmed(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
    if (one.empty()) continue;
    if (one.find_first_of(kWordBlanks) != std::string_view::npos && !one.starts_with("unix:")) {
      return Failure{"blanks between nodes: separate them by commas"};
    }
    Result<NodeAddress> node = parse_node_address(one);
    if (!node) return node.error();
    const auto is_same = [&](const NodeAddress& other) {
      return other.address == node.value().address;
    };
    if (std::any_of(nodes.begin(), nodes.end(), is_same)) {
      return Failure{fmt::format("{} is named twice: each node has one vote; remove one of them",
                                 node.value().text())};
    }
    nodes.push_back(std::move(node).value());
  }
  if (nodes.empty()) return Failure{fmt::format("no node is named: {}", kForm)};
  if (nodes.size() > kNodesMax) {
    return Failure{fmt::format("{} nodes are too many: at most {}", nodes.size(), kNodesMax)};
  }
  return nodes;
}

}  // namespace redlock::coordinator
