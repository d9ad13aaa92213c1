// Channel: what may stand between a stream's socket and its user, such as TLS. A stream without one
// hands bytes on as they are.
//
// Bytes of the socket's side are *sealed*, those of the user's side are plain. A channel is told
// what came and appends what is to go out; it knows no socket and waits for nothing. It keeps
// nothing that is to go out: so what waits for the peer to read is in the stream's queue alone.
//
//   opening --(the peer's proofs are good)--> open --(the peer's last word)--> ended
//      \______________________(anything that is wrong)______________________> failed
//
// Thread safety: none.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::net {

class Channel {
 public:
  enum class State { opening, open, ended, failed };

  virtual ~Channel() = default;

  // Who dials speaks first; whoever is dialled appends nothing.
  virtual void begin(std::string& sealed) = 0;
  // Takes all of it. What it holds stands at the beginning of `plain`, as many bytes as `size`
  // tells, unless it fails; `plain` is grown where it is too small. What is to be said to the peer
  // in turn is appended to `sealed`, also where it fails.
  virtual State receive(std::string_view came, std::vector<char>& plain, std::size_t& size,
                        std::string& sealed) = 0;
  // REQUIRES: open.
  virtual void seal(std::string_view plain, std::string& sealed) = 0;
  // The last word. REQUIRES: open, or ended by the peer.
  virtual void close(std::string& sealed) = 0;

  virtual State state() const = 0;
  // Who the peer has proved to be: the common name of its certificate. Empty: nobody, as it showed
  // none, or one with no such name, with several or with one that is not printable.
  virtual std::string peer_name() const = 0;
  // Once it has failed: why, for people.
  virtual std::string problem() const = 0;
};

}  // namespace redlock::net
