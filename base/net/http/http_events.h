// HttpEvents: what browsers are told as it happens (server-sent events, WHATWG HTML §9.2), over
// connections of any HttpServer of the loop.
//
//   HttpEvents events;
//   … return HttpResponse::listen_to(events);   // the answer to a GET; it ends with the connection
//   events.send(json);
//
// A listener that does not read what it is sent, or is behind for long, is dropped; a browser comes
// back by itself. Thread safety: none, as Loop. It outlives the servers that answer with it.
#pragma once

#include "base/time.h"

#include <cstddef>
#include <string_view>
#include <vector>

namespace redlock::net {

class HttpEvents {
 public:
  // Browsers that look at one program at a time.
  static constexpr std::size_t kListenersMax = 16;
  // Of one listener, beside the event that comes: with what the system keeps, some seconds of a
  // large group.
  static constexpr std::size_t kUnreadBytesMax = 512 * 1024;
  // It has not read all that it was sent.
  static constexpr Duration kBehindMax = 10s;

  class Listener {
   public:
    virtual void send(std::string_view bytes) = 0;

   protected:
    ~Listener() = default;
  };

  HttpEvents() = default;
  HttpEvents(const HttpEvents&) = delete;
  HttpEvents& operator=(const HttpEvents&) = delete;

  // To everybody who listens. REQUIRES: one line.
  void send(std::string_view data);
  std::size_t listeners() const { return listeners_.size(); }
  bool is_full() const { return listeners_.size() >= kListenersMax; }

  // Of HttpServer.
  void add(Listener& listener) { listeners_.push_back(&listener); }
  void remove(Listener& listener) { std::erase(listeners_, &listener); }

 private:
  std::vector<Listener*> listeners_;
};

}  // namespace redlock::net
