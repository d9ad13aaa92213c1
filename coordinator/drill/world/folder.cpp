#include "coordinator/drill/world/folder.h"

#include <cstdlib>
#include <filesystem>

namespace redlock::coordinator {

namespace fs = std::filesystem;

DrillFolder::DrillFolder() {
  std::error_code error;
  std::string name = (fs::temp_directory_path(error) / "redlock-drill.XXXXXX").string();
  if (!error && mkdtemp(name.data()) != nullptr) path_ = name;
}

DrillFolder::~DrillFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

}  // namespace redlock::coordinator
