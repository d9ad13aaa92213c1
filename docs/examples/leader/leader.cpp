// leader NAME [TERMS]: of all that run it, one leads at a time. With TERMS it ends after having led
// so often, else it goes on for ever.
//
// The nodes are those of REDLOCK_NODES. Who leads says so and works until its lock is lost, or
// until its term is over and it lets another lead. With the package installed CMakeLists.txt builds
// it, or
//
// c++ -std=c++20 leader.cpp -o leader $(pkg-config --cflags --libs redlock-client)
#include <redlock/guard.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <string>
#include <thread>

using namespace std::chrono_literals;

namespace {

constexpr auto kTerm = 300ms;

void lead(const redlock::Guard& guard) {
  const auto end = std::chrono::steady_clock::now() + kTerm;
  while (guard.valid() && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(20ms);  // a piece of a leader's work, shorter than the notice
  }
}

}  // namespace

int main(int argc, char** argv) {
  const char* nodes = std::getenv("REDLOCK_NODES");
  if (argc < 2 || nodes == nullptr) {
    std::cerr << "usage: REDLOCK_NODES=redis://host:port,… leader NAME [TERMS]\n";
    return 64;
  }
  auto client = redlock::Client::start({.nodes = {nodes}});
  if (!client) {
    std::cerr << client.error().text << '\n';
    return 64;
  }
  const std::string name = argv[1];
  const int terms = argc > 2 ? std::atoi(argv[2]) : 0;
  const auto on_loss = [&](const redlock::Error& why) {
    std::cout << name << " leads no more: " << why.text << std::endl;
  };
  for (int led = 0; terms == 0 || led < terms;) {
    // Waits for its turn, for as long as a quorum of nodes answers.
    auto guard = client.value().guard("example:leader", {.ttl = 2s, .on_loss = on_loss});
    if (!guard) {
      std::cerr << name << ": " << guard.error().text << '\n';
      continue;
    }
    std::cout << name << " leads" << std::endl;
    lead(guard.value());
    ++led;
  }
}
