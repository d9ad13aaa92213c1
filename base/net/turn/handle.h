// Handle<uv_tcp_t>: owns one libuv handle and closes and frees it in the right order.
//
// libuv goes on touching a handle until its close callback has run, which is later than the end of
// the object that used it. So the handle lives on the heap by itself: the destructor asks libuv to
// close it and leaves; the memory goes when libuv says so. `data` is cleared first, so a callback
// that still comes finds nobody (callbacks check `user()`).
#pragma once

#include <memory>
#include <utility>

#include <uv.h>

namespace redlock::net {

template <class Raw>
class Handle {
 public:
  Handle() : raw_(std::make_unique<Raw>()) { raw_->data = nullptr; }
  ~Handle() { close(); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  // Call once after the uv_*_init of this handle succeeded: only then must it be closed.
  void opened(void* user) {
    raw_->data = user;
    open_ = true;
  }

  void close() {
    if (!open_) return;
    open_ = false;
    Raw* raw = raw_.release();
    raw->data = nullptr;
    uv_close(as_handle(raw), [](uv_handle_t* handle) { delete reinterpret_cast<Raw*>(handle); });
  }

  bool is_open() const { return open_; }
  Raw* raw() const { return raw_.get(); }
  uv_handle_t* handle() const { return as_handle(raw_.get()); }
  uv_stream_t* stream() const { return reinterpret_cast<uv_stream_t*>(raw_.get()); }

 private:
  static uv_handle_t* as_handle(Raw* raw) { return reinterpret_cast<uv_handle_t*>(raw); }

  std::unique_ptr<Raw> raw_;
  bool open_ = false;
};

}  // namespace redlock::net
