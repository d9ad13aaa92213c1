// Whom a transcript is played to.
#pragma once

#include "base/time.h"
#include "tests/transcript/transcript.h"
#include <redlock/result.h>

#include <memory>
#include <string>
#include <vector>

namespace redlock::transcript {

class Target {
 public:
  virtual ~Target() = default;
  // One request of this client, which is connected first if it is new; the answer in
  // Reply::to_string's form, or "(closed)", or "(none)" when none came.
  virtual std::string ask(const std::string& client, const std::vector<std::string>& words) = 0;
  // What comes to a client that asked nothing: a message.
  virtual std::string hear(const std::string& client) = 0;
  virtual void wait(Duration d) = 0;
};

// The node as a plain object.
Result<std::unique_ptr<Target>> pure_node(const std::vector<SettingLine>& lines);

// A server of its own for this transcript; it ends with the target.
Result<std::unique_ptr<Target>> embedded_node(const std::vector<SettingLine>& settings);
Result<std::unique_ptr<Target>> redis_server_process(const std::string& program,
                                                     const std::vector<SettingLine>& settings);

}  // namespace redlock::transcript
