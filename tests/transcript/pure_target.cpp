#include "server/settings/setting_table.h"
#include "tests/support/node_fixture.h"
#include "tests/transcript/target.h"

#include <map>
#include <optional>

namespace redlock::transcript {
namespace {

class PureNode final : public Target {
 public:
  explicit PureNode(server::Settings settings) : node_(std::move(settings)) {}

  std::string ask(const std::string& client, const std::vector<std::string>& words) override {
    server::TestClient& asking = connected(client);
    const bool was_closing = asking.session().is_closing();
    if (!was_closing) asking.send(words, node_.now());
    node_.do_due_work();
    std::string answer = asking.receive();
    return answer == "(none)" && was_closing ? "(closed)" : answer;
  }

  std::string hear(const std::string& client) override { return connected(client).receive(); }

  void wait(Duration d) override {
    node_.advance(d);
    node_.do_due_work();
  }

 private:
  server::TestClient& connected(const std::string& client) {
    auto& opened = clients_[client];
    if (!opened) opened.emplace(node_.connect());
    return *opened;
  }

  server::NodeFixture node_;
  std::map<std::string, std::optional<server::TestClient>> clients_;
};

}  // namespace

Result<std::unique_ptr<Target>> pure_node(const std::vector<SettingLine>& lines) {
  server::Settings settings;
  for (const SettingLine& line : lines) {
    const auto applied = server::apply(settings, line.name, line.words);
    if (!applied) return applied.error();
  }
  return std::unique_ptr<Target>(std::make_unique<PureNode>(std::move(settings)));
}

}  // namespace redlock::transcript
