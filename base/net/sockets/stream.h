// A byte stream: TCP or a unix socket, from a listener or to an address. No protocol in it.
//
// The bytes handed to on_bytes stand in the loop's one receive buffer: use or copy them before
// returning. Writing tries the socket at once; what it does not take is queued.
//
// A stream may be protected by a channel (TLS). Its user sees plain bytes all the same; queued are
// the sealed ones. What the user writes before the channel is open waits for that.
//
// Thread safety: none, as Loop. A user may destroy its stream inside any callback; the stream
// touches neither itself nor the user after a callback in which that happened.
#pragma once

#include "base/net/sockets/address.h"
#include "base/net/sockets/channel.h"
#include "base/net/turn/handle.h"
#include "base/net/turn/loop.h"
#include "base/time.h"

#include <memory>
#include <string>
#include <string_view>
#include <variant>

namespace redlock::net {

class Stream {
 public:
  class User {
   public:
    virtual ~User() = default;
    // Of connect(), and of whoever is dialled with a channel: that is open now.
    virtual void on_connected() {}
    virtual void on_bytes(std::string_view bytes) = 0;
    // The peer's end, an error of the socket, or a connection that could not be made: `reason` is
    // for people ("connection refused"), empty at a plain end. Comes at most once;
    // then nothing does.
    virtual void on_end(std::string_view reason) = 0;
    virtual void on_drained() {}  // all that was queued has gone out
  };

  // Dials; the outcome comes as on_connected or on_end, never from inside this call. Of a host name
  // all addresses are tried in turn, beginning with the nth, counted round: whoever dials again as
  // the first did not answer in time begins with another.
  static std::unique_ptr<Stream> connect(Loop& loop, const Address& address, User& user,
                                         std::size_t nth = 0);

  // Takes over the waiting connection of a listening handle. nullptr if it is gone already.
  static std::unique_ptr<Stream> accept(Loop& loop, uv_stream_t* listening, bool is_unix);

  ~Stream();  // a channel's last word goes out, if the socket takes it at once
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  // From the first byte on. REQUIRES: called right behind connect() or accept(). Until the channel
  // is open it is read whatever the user says, and nobody but the user bounds how long that takes.
  void protect(std::unique_ptr<Channel> channel);
  std::string peer_name() const;  // the channel's word; without one nobody's
  bool is_opening() const;        // there is a channel that is not open yet, or could not be opened

  void set_user(User& user) { user_ = &user; }
  void start_reading();
  void stop_reading();
  void write(std::string_view bytes);
  // What the socket takes at once, behind what is queued: so many bytes. The rest is left. With a
  // channel, if that is not all of them: the peer may read at most so many of them, and the stream
  // is of no use any more.
  std::size_t send(std::string_view bytes);
  // As write(), without a copy of what is queued.
  void hand_over(std::string bytes);
  // Bytes that wait because the peer does not read, and in how many writes they came.
  std::size_t queued_bytes() const;
  std::size_t queued_pieces() const { return queued_pieces_; }
  // After this nothing more is read; on_end comes when all that is queued was sent, or failed.
  void end_after_writes();

  void set_keepalive(Duration idle);  // full seconds; 0 turns it off; TCP only

  const Address& peer() const { return peer_; }
  const Address& local() const { return local_; }
  bool peer_is_loopback() const { return peer_is_loopback_; }
  int descriptor() const { return descriptor_; }

 private:
  class Dial;
  // What a stream with a channel has beside its socket.
  struct Protection {
    std::unique_ptr<Channel> channel;
    const bool is_dialling;
    bool is_opening = true;
    std::string unsealed = {};       // written before the channel is open
    std::size_t answers_unread = 0;  // bytes of the channel's own since nothing was queued
    bool is_gone = false;            // the stream is, which may end in a call of its user
  };
  using Tcp = Handle<uv_tcp_t>;
  using Pipe = Handle<uv_pipe_t>;

  Stream(Loop& loop, bool is_unix);
  uv_stream_t* raw() const;
  bool is_open() const;
  void learn_connection();
  std::size_t queued_raw() const;
  std::size_t send_raw(std::string_view bytes) const;
  void write_raw(std::string_view bytes);
  void hand_over_raw(std::string bytes);
  void queue(std::string bytes, std::size_t sent);
  void read_raw();
  void receive();
  void take_received();
  void finish(std::string_view reason);
  void open();
  void connected();
  void shut_down();

  // With a channel: stream_channel.cpp.
  void open_channel();
  void on_channel_open();
  std::string& seal(std::string_view bytes);
  std::size_t send_sealed(std::string_view bytes);
  void write_sealed(std::string_view bytes);
  void take_sealed(std::string_view came);
  bool is_asked_to_open() const;
  void open_later();
  bool answer_peer(std::string& sealed);
  void say_last_word();

  Loop& loop_;
  User* user_ = nullptr;
  std::variant<std::monostate, Tcp, Pipe> handle_;
  std::unique_ptr<Dial> dial_;  // until it is connected, or could not be
  Address peer_;
  Address local_;
  int descriptor_ = -1;  // while it is connected
  // By receive(): bytes in the loop's buffer, 0 at the end, or -errno; -EBUSY: it was not tried.
  long received_ = 0;
  std::size_t queued_pieces_ = 0;
  bool peer_is_loopback_ = false;
  bool ending_ = false;
  bool finished_ = false;
  std::shared_ptr<Protection> protection_;  // nullptr: no channel
};

}  // namespace redlock::net
