#include "protocol/resp/reply.h"

#include "base/invariant.h"
#include "base/text/quoted_words.h"
#include "protocol/resp/limits.h"

#include <bit>

#include <fmt/format.h>

namespace redlock::protocol {

void Reply::Release::operator()(Owned* owned) const noexcept {
  delete owned;
}

Reply::Reply(Kind kind, std::string&& text) : kind_(kind), owned_(new Owned{std::move(text), {}}) {
  text_ = owned_->text;
}

Reply::Reply(Kind kind, std::vector<Reply>&& items) : kind_(kind) {
  if (items.empty()) return;
  std::size_t bytes = 0;
  for (const Reply& item : items) bytes += item.memory_bytes();
  if (bytes > kReplyMemoryMax) {
    kind_ = Kind::too_large;
    return;
  }
  number_ = static_cast<std::int64_t>(bytes);
  owned_.reset(new Owned{{}, std::move(items)});
}

Reply Reply::real(double value) {
  return Reply(Kind::real, std::bit_cast<std::int64_t>(value));
}

double Reply::real() const {
  return is(Kind::real) ? std::bit_cast<double>(number_) : 0.0;
}

const std::vector<Reply>& Reply::items() const {
  static const std::vector<Reply> kNothing;
  return owned_ ? owned_->items : kNothing;
}

Reply& Reply::add(Reply item) {
  if (is(Kind::too_large)) return *this;
  INVARIANT(is_aggregate(), "an item for a reply that holds none");
  const std::size_t bytes = static_cast<std::size_t>(number_) + item.memory_bytes();
  if (bytes > kReplyMemoryMax) return *this = Reply(Kind::too_large);
  if (!owned_) owned_.reset(new Owned);
  number_ = static_cast<std::int64_t>(bytes);
  owned_->items.push_back(std::move(item));
  return *this;
}

// An item that is too large itself makes its aggregate so.
std::size_t Reply::memory_bytes() const {
  if (is(Kind::too_large)) return kReplyMemoryMax + 1;
  const std::size_t of_items = is_aggregate() ? static_cast<std::size_t>(number_) : 0;
  const std::size_t own = owned_ ? sizeof(Owned) + text_.size() : 0;
  return sizeof(Reply) + text_.size() + own + of_items;
}

Reply& Reply::add_field(std::string_view name, Reply value) {
  return add(bulk_view(name)).add(std::move(value));
}

Reply Reply::owned() const {
  if (is_aggregate()) {
    std::vector<Reply> copies;
    copies.reserve(items().size());
    for (const Reply& item : items()) copies.push_back(item.owned());
    return Reply(kind_, std::move(copies));
  }
  Reply copy(kind_, number_);
  if (text_.empty()) return copy;
  copy.owned_.reset(new Owned{std::string(text_), {}});
  copy.text_ = copy.owned_->text;
  return copy;
}

std::string Reply::to_string() const {
  switch (kind_) {
    case Kind::none:
      return "(nothing)";
    case Kind::later:
      return "(later)";
    case Kind::postponed:
      return "(postponed)";
    case Kind::too_large:
      return "(too large)";
    case Kind::status:
      return fmt::format("+{}", text_);
    case Kind::error:
      return fmt::format("-{}", text_);
    case Kind::integer:
      return fmt::format("(integer) {}", number_);
    case Kind::bulk:
      return quoted_word(text_);
    case Kind::null:
    case Kind::null_array:
      return "(nil)";
    case Kind::boolean:
      return number_ != 0 ? "(true)" : "(false)";
    case Kind::real:
      return fmt::format("(double) {}", real());
    case Kind::big_number:
      return fmt::format("(big number) {}", text_);
    case Kind::verbatim:
      return quoted_word(text_);
    case Kind::array:
    case Kind::set:
    case Kind::map:
    case Kind::push:
    case Kind::sequence:
      break;
  }
  const bool is_map = kind_ == Kind::map;
  std::string out = is_map ? "{" : kind_ == Kind::set ? "~[" : kind_ == Kind::push ? ">[" : "[";
  for (std::size_t i = 0; i < items().size(); ++i) {
    if (i > 0) out += is_map && i % 2 == 1 ? ": " : ", ";
    out += items()[i].to_string();
  }
  return out + (is_map ? "}" : "]");
}

bool operator==(const Reply& a, const Reply& b) {
  const bool have_same_number = a.is_aggregate() || a.number_ == b.number_;
  return a.kind_ == b.kind_ && have_same_number && a.text_ == b.text_ && a.items() == b.items();
}

}  // namespace redlock::protocol
