#include "coordinator/drill/world/folder.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace redlock::drill {

namespace fs = std::filesystem;

Folder::Folder() {
  std::error_code error;
  std::string name = (fs::temp_directory_path(error) / "redlock-drill.XXXXXX").string();
  if (!error && mkdtemp(name.data()) != nullptr) path_ = name;
}

Folder::~Folder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace redlock::drill
