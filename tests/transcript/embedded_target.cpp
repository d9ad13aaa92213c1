// The node on real sockets, in this process.
#include "tests/transcript/clients.h"
#include "tests/transcript/target.h"
#include <redlock/embedded_node.h>

#include <thread>

#include <fmt/format.h>

namespace redlock::transcript {
namespace {

class Embedded final : public Target {
 public:
  explicit Embedded(EmbeddedNode node) : node_(std::move(node)) {}

  std::string ask(const std::string& client, const std::vector<std::string>& words) override {
    return clients_.ask(client, node_.port(), words);
  }

  std::string hear(const std::string& client) override {
    return clients_.hear(client, node_.port());
  }

  void wait(Duration d) override { std::this_thread::sleep_for(d); }

 private:
  EmbeddedNode node_;
  Clients clients_;
};

}  // namespace

Result<std::unique_ptr<Target>> embedded_node(const std::vector<SettingLine>& settings) {
  EmbeddedNodeOptions options;
  for (const SettingLine& line : settings) {
    options.settings.emplace_back(line.name, fmt::to_string(fmt::join(line.words, " ")));
  }
  auto node = EmbeddedNode::start(std::move(options));
  if (!node) return node.error();
  return std::unique_ptr<Target>(std::make_unique<Embedded>(std::move(node).value()));
}

}  // namespace redlock::transcript
