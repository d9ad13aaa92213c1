#include "coordinator/client/parsed_options.h"

#include "base/label.h"
#include "coordinator/client/node_address.h"
#include "coordinator/results/errors.h"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

namespace redlock {

using coordinator::invalid_error;

namespace {

using Tls = std::shared_ptr<net::TlsClient>;

Result<Tls> tls_of(const ClientOptions& options,
                   const std::vector<coordinator::NodePlace>& places) {
  const net::TlsClientOptions asked{options.tls_ca, options.tls_cert, options.tls_key};
  const bool is_wanted =
      std::any_of(places.begin(), places.end(), [](const auto& place) { return place.is_tls; });
  if (!is_wanted && asked == net::TlsClientOptions()) return Tls();
  auto made = net::TlsClient::make(asked);
  if (!made) return made.error();
  return Tls(std::move(made).value());
}

}  // namespace

Result<ParsedOptions, Error> ParsedOptions::read(const ClientOptions& options) {
  std::string list;
  for (const std::string& node : options.nodes) list += (list.empty() ? "" : ",") + node;
  auto nodes = coordinator::parse_node_addresses(list);
  if (!nodes) return invalid_error(nodes.error().text);
  if (options.node_timeout < 1ms) return invalid_error("the node timeout is shorter than 1 ms");
  if (options.node_timeout > coordinator::kNodeTimeoutMax)
    return invalid_error("the node timeout is longer than 1 h");
  if (!(options.clock_drift >= 0 && options.clock_drift <= kClockDriftMax)) {
    return invalid_error("the clock drift is a ratio from 0 to 0.5: 0.01 is 1 %");
  }
  if (options.label.size() > kLabelBytesMax) {
    return invalid_error(fmt::format("the label is longer than {} bytes", kLabelBytesMax));
  }
  ParsedOptions parsed{.places = {},
                       .tls = {},
                       .group = {.nodes = {},
                                 .node_timeout = options.node_timeout,
                                 .clock_drift = options.clock_drift,
                                 .hear_everyone = options.hear_everyone,
                                 .as_named = options.as_named,
                                 .unsafe_members = options.unsafe_members,
                                 .admit_unfenced = options.admit_unfenced,
                                 .label = options.label},
                       .log = options.log};
  for (coordinator::NodeAddress& node : nodes.value()) {
    if (!node.credentials.given()) node.credentials.password = options.password;
    parsed.group.nodes.push_back({node.text(), std::move(node.credentials)});
    parsed.places.push_back({std::move(node.address), node.is_tls});
  }
  auto tls = tls_of(options, parsed.places);
  if (!tls) return invalid_error(tls.error().text);
  parsed.tls = std::move(tls).value();
  return parsed;
}

}  // namespace redlock
