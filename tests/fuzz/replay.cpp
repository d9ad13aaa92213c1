// The main of a target that libFuzzer is not linked to: each file, and each file of a folder, once.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> inputs(std::span<char*> arguments) {
  std::vector<fs::path> paths;
  for (const char* argument : arguments) {
    if (!fs::is_directory(argument)) {
      paths.emplace_back(argument);
      continue;
    }
    for (const auto& entry : fs::directory_iterator(argument)) paths.push_back(entry.path());
  }
  return paths;
}

}  // namespace

int main(int argc, char** argv) {
  const auto paths = inputs(std::span(argv, static_cast<std::size_t>(argc)).subspan(1));
  for (const fs::path& path : paths) {
    std::printf("%s\n", path.c_str());
    std::fflush(stdout);  // the last one is the one that ended it
    std::ifstream file(path, std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(file), {});
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  }
  return paths.empty() ? 1 : 0;  // a corpus that is not there proves nothing
}
