// worker [DATABASE [STEPS]]: writes rows into an sqlite3 database while it holds a lock, so that of
// all workers on all machines only one writes at a time.
//
// The nodes are those of REDLOCK_NODES. Exit status: 0 the work is done; 75 another works; 1 the
// lock was lost, or the database failed. With the package installed CMakeLists.txt builds it, or
//
// c++ -std=c++20 worker.cpp -o worker $(pkg-config --cflags --libs redlock-client sqlite3)
#include <redlock/guard.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <sqlite3.h>
#include <string>
#include <unistd.h>

using namespace std::chrono_literals;

namespace {

bool execute(sqlite3* database, const std::string& statement) {
  char* problem = nullptr;
  if (sqlite3_exec(database, statement.c_str(), nullptr, nullptr, &problem) == SQLITE_OK)
    return true;
  std::cerr << "sqlite3: " << problem << '\n';
  sqlite3_free(problem);
  return false;
}

// One step takes far less than the guard's notice (here a second). So if the lock is valid before
// the step, it is still this worker's when the step ends.
bool work(sqlite3* database, redlock::Guard& guard, int steps) {
  for (int step = 0; step < steps; ++step) {
    if (!guard.valid()) {
      std::cerr << "the lock was lost after " << step << " steps\n";
      return false;
    }
    const std::string row =
        "INSERT INTO steps VALUES (" + std::to_string(getpid()) + ", " + std::to_string(step) + ")";
    if (!execute(database, row)) return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const char* nodes = std::getenv("REDLOCK_NODES");
  if (argc > 3 || nodes == nullptr) {
    std::cerr << "usage: REDLOCK_NODES=redis://host:port,… worker [DATABASE [STEPS]]\n";
    return 64;
  }
  const char* path = argc > 1 ? argv[1] : "jobs.db";
  const int steps = argc > 2 ? std::atoi(argv[2]) : 100;
  auto client = redlock::Client::start({.nodes = {nodes}});
  if (!client) {
    std::cerr << client.error().text << '\n';
    return 64;
  }
  auto guard = client.value().guard("example:worker", {.ttl = 10s, .wait = 0s, .notice = 1s});
  if (!guard) {
    std::cerr << guard.error().text << '\n';
    for (const auto& node : guard.error().nodes) {
      std::cerr << "  " << node.node << "  " << node.text << '\n';
    }
    return guard.error().code == redlock::ErrorCode::held ? 75 : 1;
  }
  sqlite3* database = nullptr;
  bool done =
      sqlite3_open(path, &database) == SQLITE_OK &&
      execute(database, "CREATE TABLE IF NOT EXISTS steps (worker INTEGER, step INTEGER)") &&
      work(database, guard.value(), steps);
  sqlite3_close(database);
  // A release that a quorum confirms says that the lock was this worker's to the end.
  if (const auto released = guard.value().release(); !released) {
    std::cerr << released.error().text << '\n';
    done = false;
  }
  return done ? 0 : 1;
}
