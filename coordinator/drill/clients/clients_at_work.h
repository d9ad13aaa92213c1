// The clients of a drill: processes that work under locks (client_process.h),
// and what is done to them.
#pragma once

#include "coordinator/drill/clients/client_settings.h"
#include "coordinator/drill/world/process_at_work.h"
#include "coordinator/drill/world/recorder.h"
#include "coordinator/drill/world/stage.h"
#include "coordinator/drill/world/workers.h"

#include <memory>
#include <string>
#include <vector>

namespace redlock::drill {

class ClientsAtWork final : public Workers {
 public:
  // Settings of all of them; name, seed, nodes and history file are each one's own. in_line: of
  // every fourth. Histories, and the log of what clients complain of, go to the folder.
  ClientsAtWork(Stage& stage, Recorder& recorder, std::string folder,
                ClientProcessSettings settings);
  ~ClientsAtWork() override;
  ClientsAtWork(const ClientsAtWork&) = delete;
  ClientsAtWork& operator=(const ClientsAtWork&) = delete;

  Status add(std::string nodes, Place place) override;
  void name_nodes(std::size_t worker, std::string nodes) override;
  void befall(const PlannedFault& fault) override;
  // It cannot go on when a client ended by itself.
  Status look() override;
  Status end() override;
  const std::vector<std::string>& history_files() const override { return history_files_; }

 private:
  struct OneClient;
  Status launch(OneClient& client);

  Stage& stage_;
  Recorder& recorder_;
  const std::string folder_;
  const ClientProcessSettings settings_;
  std::vector<std::unique_ptr<OneClient>> clients_;
  std::vector<std::string> history_files_;
};

}  // namespace redlock::drill
