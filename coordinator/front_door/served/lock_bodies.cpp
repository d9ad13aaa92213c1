// LOCK.ACQUIRE, LOCK.EXTEND, LOCK.RELEASE, LOCK.HOLDER: as a node has them, with the
// token of a quorum (server/commands/quorum.cpp).
#include "coordinator/front_door/served/bodies.h"
#include "protocol/resp/errors.h"
#include "server/commands/replies.h"

#include <algorithm>
#include <utility>

namespace redlock::coordinator {

using protocol::Reply;
using server::list;
using server::LockKind;
using server::number_reply;

namespace {

// About one key, whose record is known or guessed.
class LockBody : public CommandBody {
 public:
  explicit LockBody(std::string key) : key_(std::move(key)) {}

  RunResult run(std::span<const KnownRecord> records, Now now) override {
    TouchedKey touched = looked_at(records, key_);
    change(touched, now);
    RunResult run;
    run.touched.push_back(std::move(touched));
    run.reads_deadlines = tells_time_left();
    return run;
  }
  Reply reply(RunResult& run, std::span<const SettledKey> keys, Now now) override {
    return reply_to(run.touched[0], keys[0], now);
  }

 protected:
  // What the command does to the record: before and after are the same as yet.
  virtual void change(TouchedKey&, Now) {}
  // To somebody who may be the holder. Who is refused a lock relies on nothing.
  virtual bool tells_time_left() const { return false; }
  virtual Reply reply_to(const TouchedKey& touched, const SettledKey& settled, Now now) = 0;

  static bool is_hash(const TouchedKey& touched) {
    return touched.before && touched.before->kind == LockKind::hash;
  }
  // Something as long as it is held, however long the run took (rule D2); -1: it has no deadline.
  static Reply ms_left(const TouchedKey& touched, Now now) {
    const Instant deadline = touched.before->deadline;
    if (deadline == kNever) return Reply::integer(-1);
    return Reply::integer(std::max<std::int64_t>(ceil_ms(deadline - now.monotonic), 1));
  }

 private:
  std::string key_;
};

class AcquireBody final : public LockBody {
 public:
  AcquireBody(std::string key, std::string value, Duration ttl, std::string label, Take take)
      : LockBody(std::move(key)),
        value_(std::move(value)),
        ttl_(ttl),
        label_(std::move(label)),
        take_(take) {}
  bool only_takes() const override { return true; }
  bool fences() const override { return true; }
  std::string_view label() const override { return label_; }

 private:
  void change(TouchedKey& touched, Now now) override {
    if (!touched.before && take_ == Take::takes) {
      touched.after = SeenRecord{LockKind::text, value_, later(now.monotonic, ttl_)};
    }
  }
  Reply reply_to(const TouchedKey& touched, const SettledKey& settled, Now now) override {
    if (touched.before) return list(Reply::integer(0), ms_left(touched, now));
    if (take_ == Take::looks) return list(Reply::integer(0), Reply::integer(1));
    return list(Reply::integer(1), number_reply(settled.token), Reply::integer(ceil_ms(ttl_)));
  }

  std::string value_;
  Duration ttl_;
  std::string label_;
  Take take_;
};

// Compares, as the commands do that are for the lock's holder.
class HoldersBody : public LockBody {
 public:
  HoldersBody(std::string key, std::string value)
      : LockBody(std::move(key)), value_(std::move(value)) {}

 protected:
  bool is_holders(const TouchedKey& touched) const {
    return touched.before && !is_hash(touched) && touched.before->payload == value_;
  }

 private:
  std::string value_;
};

class ExtendBody final : public HoldersBody {
 public:
  ExtendBody(std::string key, std::string value, Duration ttl)
      : HoldersBody(std::move(key), std::move(value)), ttl_(ttl) {}
  bool wants_token() const override { return true; }

 private:
  // It never brings a deadline forward, and nor does a node that is asked for an extension. So the
  // deadline before need not be known: it counts as earlier.
  void change(TouchedKey& touched, Now now) override {
    if (!is_holders(touched)) return;
    touched.after->deadline = later(now.monotonic, ttl_);
    touched.before->deadline = std::min(touched.before->deadline, touched.after->deadline - 1ns);
  }
  Reply reply_to(const TouchedKey& touched, const SettledKey& settled, Now) override {
    if (is_hash(touched)) return Reply::error_view(protocol::kWrongType);
    if (!is_holders(touched)) return list(Reply::integer(0));
    return list(Reply::integer(1), number_reply(settled.holders_token()),
                Reply::integer(ceil_ms(ttl_)));
  }

  Duration ttl_;
};

class ReleaseBody final : public HoldersBody {
 public:
  using HoldersBody::HoldersBody;

 private:
  void change(TouchedKey& touched, Now) override {
    if (is_holders(touched)) touched.after.reset();
  }
  Reply reply_to(const TouchedKey& touched, const SettledKey&, Now) override {
    if (is_hash(touched)) return Reply::error_view(protocol::kWrongType);
    return Reply::integer(is_holders(touched) ? 1 : 0);
  }
};

class HolderBody final : public LockBody {
 public:
  using LockBody::LockBody;
  bool wants_token() const override { return true; }

 private:
  bool tells_time_left() const override { return true; }
  Reply reply_to(const TouchedKey& touched, const SettledKey& settled, Now now) override {
    if (!touched.before) return Reply::null();
    if (is_hash(touched)) return Reply::error_view(protocol::kWrongType);
    Reply told = list(Reply::bulk(touched.before->payload), ms_left(touched, now),
                      number_reply(settled.holders_token()));
    const KeyLabel& label = settled.label();
    if (label.text.empty() || settled.has_changed_hands()) return told;
    told.add(Reply::bulk(label.text)).add(Reply::integer(floor_ms(label.held)));
    return told;
  }
};

// LOCK.WAIT that only looks.
class FreeBody final : public LockBody {
 public:
  using LockBody::LockBody;

 private:
  Reply reply_to(const TouchedKey& touched, const SettledKey&, Now) override {
    return Reply::integer(touched.before ? 0 : 1);
  }
};

}  // namespace

std::unique_ptr<CommandBody> free_body(std::string key) {
  return std::make_unique<FreeBody>(std::move(key));
}

std::unique_ptr<CommandBody> acquire_body(std::string key, std::string value, Duration ttl,
                                          std::string label, Take take) {
  return std::make_unique<AcquireBody>(std::move(key), std::move(value), ttl, std::move(label),
                                       take);
}

std::unique_ptr<CommandBody> extend_body(std::string key, std::string value, Duration ttl) {
  return std::make_unique<ExtendBody>(std::move(key), std::move(value), ttl);
}

std::unique_ptr<CommandBody> release_body(std::string key, std::string value) {
  return std::make_unique<ReleaseBody>(std::move(key), std::move(value));
}

std::unique_ptr<CommandBody> holder_body(std::string key) {
  return std::make_unique<HolderBody>(std::move(key));
}

}  // namespace redlock::coordinator
