#include "coordinator/process_group.h"

#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <string>
#include <unistd.h>

namespace redlock::coordinator {
namespace {

struct ProcessState {
  char letter = 'X';  // as in ps: R, S, D, T, Z …
  pid_t group = 0;
};

// From /proc/PID/stat: "4711 (name) S parent group …"; the name may hold blanks and parentheses. A
// process that has gone meanwhile is dead ('X').
ProcessState read_state(const char* pid) {
  const std::string path = std::string("/proc/") + pid + "/stat";
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  char text[512];
  const ssize_t count = read(file, text, sizeof text - 1);
  close(file);
  if (count <= 0) return {};
  text[count] = '\0';
  const char* end_of_name = std::strrchr(text, ')');
  ProcessState state;
  int parent = 0;
  if (end_of_name == nullptr ||
      std::sscanf(end_of_name + 1, " %c %d %d", &state.letter, &parent, &state.group) != 3) {
    return {};
  }
  return state;
}

struct CloseFolder {
  void operator()(DIR* folder) const { closedir(folder); }
};

}  // namespace

bool group_is_alive(pid_t group) {
  if (kill(-group, 0) != 0 && errno == ESRCH) return false;
  const std::unique_ptr<DIR, CloseFolder> folder(opendir("/proc"));
  if (folder == nullptr) return true;
  while (const dirent* entry = readdir(folder.get())) {
    if (std::isdigit(static_cast<unsigned char>(entry->d_name[0])) == 0) continue;
    const ProcessState state = read_state(entry->d_name);
    if (state.group == group && state.letter != 'Z' && state.letter != 'X') return true;
  }
  return false;
}

}  // namespace redlock::coordinator
