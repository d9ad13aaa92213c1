// Makes a ledger one of another version of this program, whole in all else.
//
//   ledger_version LEDGER VERSION
#include "base/byte_order.h"
#include "base/text/number.h"
#include "server/recovery/checksum.h"
#include "server/recovery/ledger.h"

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

int main(int argc, char** argv) {
  using namespace redlock;
  using namespace redlock::server;
  const auto version = argc == 3 ? parse_int64(argv[2]) : std::nullopt;
  if (!version) {
    std::fputs("usage: ledger_version LEDGER VERSION\n", stderr);
    return 64;
  }
  std::ifstream before(argv[1], std::ios::binary);
  std::string file(std::istreambuf_iterator<char>(before), {});
  constexpr std::size_t kVersionAt = 8;
  constexpr std::size_t kSummed = kLedgerPageBytes - sizeof(std::uint64_t);
  for (std::size_t copy = 0; copy < kLedgerCopies; ++copy) {
    std::string number;
    append_little_endian(number, static_cast<std::uint32_t>(*version));
    file.replace(ledger_copy_offset(copy) + kVersionAt, number.size(), number);
    std::string sum;
    append_little_endian(
        sum, checksum(std::string_view(file).substr(ledger_copy_offset(copy), kSummed)));
    file.replace(ledger_copy_offset(copy) + kSummed, sum.size(), sum);
  }
  std::ofstream after(argv[1], std::ios::binary);
  after << file;
  return after.flush() ? 0 : 1;
}
