// Certificates for tests, made by the openssl command: an authority, and whom it signs.
#pragma once

#include <cstdlib>
#include <string>

#include <catch2/catch.hpp>

namespace redlock {

class Certificates {
 public:
  explicit Certificates(std::string folder) : folder_(std::move(folder)) {
    run("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 30 "
        "-subj '/CN=test authority' -keyout " +
        key("ca") + " -out " + file("ca"));
  }

  // for_whom: as subjectAltName has it, "DNS:node1,IP:127.0.0.1". Files NAME.pem and NAME.key.
  void sign(const std::string& name, const std::string& for_whom, int days = 30) const {
    run("openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj '/CN=" + name +
        "' -addext subjectAltName=" + for_whom + " -keyout " + key(name) +
        " | openssl x509 -req -CA " + file("ca") + " -CAkey " + key("ca") +
        " -CAcreateserial -copy_extensions copy -days " + std::to_string(days) + " -out " +
        file(name));
  }

  std::string file(const std::string& name) const { return folder_ + "/" + name + ".pem"; }
  std::string key(const std::string& name) const { return folder_ + "/" + name + ".key"; }

 private:
  static void run(const std::string& command) {
    REQUIRE(std::system(("{ " + command + "; } 2>/dev/null").c_str()) == 0);
  }

  const std::string folder_;
};

}  // namespace redlock
