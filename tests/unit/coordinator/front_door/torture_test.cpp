// Many clients of two front doors do what they like, and nodes hang and go: nothing breaks, and in
// the end nothing is under way.
#include "tests/support/door_world.h"
#include "tests/support/sanitized.h"

#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace redlock;

namespace {

class Torture {
 public:
  explicit Torture(std::uint64_t seed) : random_(seed), world_(5, 2) {
    for (int i = 0; i < 12; ++i) clients_.push_back(new_client());
  }

  void play(int steps) {
    for (int i = 0; i < steps; ++i) step();
    for (unsigned node = 1; node <= 5; ++node) world_.nodes().hang(node, false);
    for (unsigned node = 1; node <= 5; ++node) world_.nodes().refuse(node, false);
    world_.nodes().pass(90s);  // every wait and every lock is over
    for (unsigned door = 1; door <= 2; ++door) {
      DoorClient client = world_.connect(door);
      const std::string info = client("INFO locks");
      CHECK(info.find("under_way:0") != std::string::npos);
      CHECK(info.find("lines:0") != std::string::npos);
      CHECK(info.find("waiters:0") != std::string::npos);
      for (const std::string key : {"a", "b", "c"}) {
        CHECK(client("SET " + key + " last NX PX 1000") == "+OK");
        CHECK(client("DEL " + key) == "(integer) 1");
      }
    }
    for (const std::string key : {"a", "b", "c"}) CHECK(world_.held_at(key) == 0);
  }

 private:
  DoorClient new_client() { return world_.connect(1 + static_cast<unsigned>(random_.below(2))); }
  std::string key() { return std::string(1, static_cast<char>('a' + random_.below(3))); }

  std::string request() {
    const std::string value = std::to_string(random_.below(3));
    switch (random_.below(16)) {
      case 0:
      case 1:
      case 2:
        return fmt::format("SET {} {} NX PX {}", key(), value, 1 + random_.below(5000));
      case 3:
      case 4:
        return kReleaseCall + key() + " " + value;
      case 5:
        return fmt::format("PEXPIRE {} {}", key(), random_.below(8000));
      case 6:
        return "GET " + key();
      case 7:
        return fmt::format("DEL {} {}", key(), key());
      case 8:
        return fmt::format("MSETNX {} {} {} {}", key(), value, key(), value);
      case 9:
        return fmt::format("LOCK.ACQUIRE {} {} PX 2000 WAIT {}", key(), value, random_.below(3000));
      case 10:
        return fmt::format("LOCK.RELEASE {} {}", key(), value);
      case 11:
        return fmt::format("LOCK.WAIT {} {}", key(), random_.below(1000));
      case 12:
        return "WATCH " + key();
      case 13:
        return random_.below(2) == 0 ? "MULTI" : "EXEC";
      case 14:
        return fmt::format("LOCK.EXTEND {} {} PX 3000", key(), value);
      default:
        return fmt::format("SET {} {} PX 3000", key(), value);
    }
  }

  void step() {
    const std::size_t at = random_.below(clients_.size());
    const std::uint64_t choice = random_.below(100);
    DoorClient& client = clients_[at];
    if (choice < 70) {
      for (std::uint64_t i = random_.below(3) + 1; i > 0 && client.wire().is_open; --i) {
        client.send(request());
      }
    } else if (choice < 78) {
      if (client.wire().is_open) client.hang_up();
    } else if (choice < 82) {
      client.wire().takes_nothing = true;
    } else if (choice < 86) {
      world_.nodes().hang(1 + static_cast<unsigned>(random_.below(5)), random_.below(2) == 0);
    } else if (choice < 89) {
      world_.nodes().refuse(1 + static_cast<unsigned>(random_.below(5)), random_.below(3) == 0);
    } else {
      world_.nodes().pass(std::chrono::milliseconds(random_.below(400)));
    }
    if (!clients_[at].wire().is_open) clients_[at] = new_client();
    client.wire().received.clear();
  }

  Random random_;
  DoorWorld world_;
  std::vector<DoorClient> clients_;
};

}  // namespace

TEST_CASE("whatever clients and nodes do, nothing breaks and nothing is left under way") {
  for (std::uint64_t seed = 1; seed <= (kSanitized ? 20 : 60); ++seed) {
    INFO("seed " << seed);
    Torture(seed).play(300);
  }
}
