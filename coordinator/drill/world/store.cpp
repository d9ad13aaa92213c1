#include "coordinator/drill/world/store.h"

#include "base/net/sockets/stream.h"

#include <utility>

namespace redlock::drill {
namespace {

constexpr int kBacklog = 64;
constexpr std::size_t kLineMax = 1024;  // a client's names are short

}  // namespace

class Store::Connection final : private net::Stream::User {
 public:
  Connection(Store& store, std::unique_ptr<net::Stream> stream)
      : store_(store), stream_(std::move(stream)) {
    stream_->set_user(*this);
    stream_->start_reading();
  }

 private:
  void on_bytes(std::string_view bytes) override {
    received_ += bytes;
    for (std::size_t end = received_.find('\n'); end != std::string::npos;
         end = received_.find('\n')) {
      const auto write = parse_store_write(std::string_view(received_).substr(0, end));
      received_.erase(0, end + 1);
      if (!write) return leave();
      stream_->write(store_.decide(*write) ? "1\n" : "0\n");
    }
    if (received_.size() > kLineMax) leave();
  }
  void on_end(std::string_view) override { leave(); }
  void leave() { store_.connections_.erase(this); }  // the end of this object

  Store& store_;
  std::unique_ptr<net::Stream> stream_;
  std::string received_;
};

Store::Store(net::Loop& loop, OnWrite on_write) : loop_(loop), on_write_(std::move(on_write)) {}

Store::~Store() = default;

Status Store::listen(const std::string& path) {
  auto listener = net::Listener::listen(
      loop_, {path}, kBacklog,
      [this](std::unique_ptr<net::Stream> stream) { welcome(std::move(stream)); });
  if (!listener) return listener.error();
  listener_ = std::move(listener).value();
  return Done{};
}

void Store::welcome(std::unique_ptr<net::Stream> stream) {
  auto connection = std::make_unique<Connection>(*this, std::move(stream));
  Connection* const key = connection.get();
  connections_.emplace(key, std::move(connection));
}

bool Store::decide(const StoreWrite& write) {
  const bool accepted = tokens_.accepts(write.lock, write.token);
  on_write_(write, accepted);
  return accepted;
}

}  // namespace redlock::drill
