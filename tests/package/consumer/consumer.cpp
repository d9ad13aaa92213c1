// The least program that has both libraries in it, built from what was installed:
//
// c++ -std=c++20 consumer.cpp -o consumer $(pkg-config --cflags --libs redlock-client redlock-node)
#include <redlock/client.h>
#include <redlock/embedded_node.h>
#include <redlock/guard.h>
#include <redlock/mutex.h>
#include <redlock/result.h>

#include <cstdio>

int main() {
  const redlock::Result<int> got = 7;
  std::printf("%d\n", got.value());
}
