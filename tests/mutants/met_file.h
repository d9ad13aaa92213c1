// MetFile: which mutants were met by what was run, a line each time: where REDLOCK_MUTANTS_MET
// names a file. And a limit: what runs far longer than it did when that file was written hangs.
//
//   NAME <tab> CPU seconds <tab> RESULT <tab> NUMBER NUMBER …
#pragma once

#include "tests/mutants/switches.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <sys/time.h>

namespace redlock_mutants {

inline double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

// SIGPROF ends the process when it has used so much more of the processor; 0: never.
inline void limit_cpu(double seconds) {
  itimerval timer{};
  timer.it_value.tv_sec = static_cast<time_t>(seconds);
  timer.it_value.tv_usec =
      static_cast<suseconds_t>((seconds - static_cast<double>(timer.it_value.tv_sec)) * 1e6);
  setitimer(ITIMER_PROF, &timer, nullptr);
}

class MetFile {
 public:
  MetFile() {
    const char* path = std::getenv("REDLOCK_MUTANTS_MET");
    if (path != nullptr) file_ = std::fopen(path, "w");
  }
  MetFile(const MetFile&) = delete;
  MetFile& operator=(const MetFile&) = delete;
  ~MetFile() {
    if (file_ != nullptr) std::fclose(file_);
  }

  bool is_open() const { return file_ != nullptr; }

  void begin() {
    if (file_ == nullptr) return;
    std::memset(met, 0, sizeof met);
    began_ = cpu_seconds();
  }

  void end(const std::string& name, const std::string& result) {
    if (file_ == nullptr) return;
    std::fprintf(file_, "%s\t%.6f\t%s\t", name.c_str(), cpu_seconds() - began_, result.c_str());
    for (int number = 0; number < kNumbers; ++number) {
      if (met[number] != 0) std::fprintf(file_, "%d ", number);
    }
    std::fputs("\n", file_);
  }

 private:
  std::FILE* file_ = nullptr;
  double began_ = 0;
};

}  // namespace redlock_mutants
