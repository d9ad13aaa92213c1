#include "coordinator/drill/changes/changes_at_work.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>
#include <utility>

#include <fmt/format.h>

namespace redlock::drill {
namespace {

constexpr std::size_t kGrownMembers = 7;
constexpr Duration kAbsentMax = 4s;
constexpr Duration kGoneWithin = 5s;

}  // namespace

ChangesAtWork::ChangesAtWork(Stage& stage, Recorder& recorder, NodesAtWork& nodes,
                             Surroundings& surroundings, ChangesSettings settings)
    : stage_(stage),
      recorder_(recorder),
      nodes_(nodes),
      surroundings_(surroundings),
      settings_(std::move(settings)),
      random_(settings_.seed),
      members_(settings_.members),
      wanted_members_(settings_.members),
      next_at_(stage.elapsed()) {
  std::iota(members_.begin(), members_.end(), std::size_t{0});
  for (std::size_t i = 0; i < kChangers; ++i) {
    const std::string log = fmt::format("{}/changer-{}.log", settings_.folder, i + 1);
    strands_.push_back(
        {std::make_unique<Changer>(stage, recorder, changer_name(i), random_(), log)});
  }
}

Status ChangesAtWork::look() {
  if (auto ended = end_absences(); !ended) return ended;
  for (Strand& strand : strands_) {
    if (auto went_on = go_on(strand); !went_on) return went_on;
  }
  const bool is_idle = std::none_of(strands_.begin(), strands_.end(),
                                    [](const Strand& strand) { return strand.change.has_value(); });
  if (!is_idle || stage_.elapsed() < next_at_) return Done{};
  // Two at once: one of them comes first, and the other is said again until its turn has come.
  if (auto drawn = draw(strands_.front()); !drawn) return drawn;
  return chance(20) ? draw(strands_.back()) : Done{};
}

Status ChangesAtWork::go_on(Strand& strand) {
  if (!strand.change) return Done{};
  const Change& change = *strand.change;
  if (!strand.is_begun) {
    if (!change.new_place || nodes_.is_ready(*change.new_place)) order(strand);
    return strand.changer->look();
  }
  if (auto looked = strand.changer->look(); !looked) return looked;
  return strand.changer->is_busy() ? Done{} : finish(strand);
}

Status ChangesAtWork::draw(Strand& strand) {
  Change change{.kind = draw_kind()};
  if (change.kind != Kind::add) change.old_place = draw_old();
  if (change.kind != Kind::remove) change.new_place = draw_newcomer();
  // Mostly it goes on: who was not told of the change may still ask it.
  constexpr std::array kFates = {Fate::stays, Fate::stays, Fate::stopped, Fate::killed, Fate::cut};
  change.fate = kFates.at(random_.below(kFates.size()));
  // Of one only: a newcomer of the change before may not vote yet, and a third were too many.
  change.is_early = &strand == &strands_.front() && chance(50);
  change.text = text_of(change);
  strand.change = change;
  strand.is_begun = false;
  if (change.new_place) {
    if (auto brought = bring(change); !brought) return brought;
  }
  return change.is_early ? befall_old(change) : Done{};
}

// From five to seven and back, among replacements.
ChangesAtWork::Kind ChangesAtWork::draw_kind() {
  std::size_t count = members_.size();
  for (const Strand& strand : strands_) {
    if (strand.change && strand.change->kind == Kind::add) ++count;
    if (strand.change && strand.change->kind == Kind::remove) --count;
  }
  if (count == wanted_members_ && chance(33)) {
    wanted_members_ = wanted_members_ == kGrownMembers ? settings_.members : kGrownMembers;
  }
  if (count == wanted_members_ || chance(33)) return Kind::replace;
  return count < wanted_members_ ? Kind::add : Kind::remove;
}

std::size_t ChangesAtWork::draw_old() {
  std::vector<std::size_t> old;
  std::copy_if(members_.begin(), members_.end(), std::back_inserter(old),
               [this](std::size_t place) { return !is_in_change(place); });
  return old[random_.below(old.size())];
}

std::size_t ChangesAtWork::draw_newcomer() {
  std::vector<std::size_t> others;
  for (std::size_t place = 0; place < settings_.addresses.size(); ++place) {
    const bool is_member = std::find(members_.begin(), members_.end(), place) != members_.end();
    if (!is_member && !is_in_change(place)) others.push_back(place);
  }
  return others[random_.below(others.size())];
}

bool ChangesAtWork::is_in_change(std::size_t place) const {
  return std::any_of(strands_.begin(), strands_.end(), [place](const Strand& strand) {
    return strand.change &&
           (strand.change->old_place == place || strand.change->new_place == place);
  });
}

std::string ChangesAtWork::text_of(const Change& change) const {
  switch (change.kind) {
    case Kind::replace:
      return fmt::format("{} by {}", node_name(*change.old_place), node_name(*change.new_place));
    case Kind::add:
      return node_name(*change.new_place);
    case Kind::remove:
      return node_name(*change.old_place);
  }
  return {};
}

// A former member comes back with the ledger that it has, or its place is another's.
Status ChangesAtWork::bring(const Change& change) {
  const std::size_t place = *change.new_place;
  std::erase_if(absences_, [place](const Absence& one) { return one.place == place; });
  if (!nodes_.is_known(place) || chance(50)) nodes_.start_anew(place, chance(50), change.text);
  return end_absence(place);
}

void ChangesAtWork::order(Strand& strand) {
  struct Words {
    const char* word;
    const char* done;
  };
  constexpr std::array kWords = {Words{"replace", "replaced"}, Words{"add", "added"},
                                 Words{"remove", "removed"}};
  const Change& change = *strand.change;
  const auto& [word, done] = kWords.at(static_cast<std::size_t>(change.kind));
  ChangeOrder order{.words = {word}, .nodes = list(), .text = change.text, .done = done};
  for (const auto place : {change.old_place, change.new_place}) {
    if (place) order.words.push_back(settings_.addresses[*place]);
  }
  order.kills = static_cast<int>(random_.below(4));
  strand.changer->begin(std::move(order));
  strand.is_begun = true;
}

Status ChangesAtWork::finish(Strand& strand) {
  const Change change = *std::exchange(strand.change, std::nullopt);
  if (change.old_place) std::erase(members_, *change.old_place);
  if (change.new_place) members_.push_back(*change.new_place);
  ++done_;
  // Mostly when the next may be; at times its command has to wait for it.
  next_at_ = stage_.elapsed() + (chance(75) ? settings_.between : settings_.between / 4);
  return change.is_early ? Done{} : befall_old(change);
}

Status ChangesAtWork::befall_old(const Change& change) {
  if (!change.old_place || change.fate == Fate::stays) return Done{};
  const std::size_t place = *change.old_place;
  absences_.push_back({place, stage_.elapsed() + between(100ms, kAbsentMax)});
  if (change.fate == Fate::stopped) nodes_.stop(place, change.text);
  if (change.fate == Fate::killed) nodes_.kill(place, change.text);
  return change.fate == Fate::cut ? cut_off(place, change.text) : Done{};
}

// From every other client.
Status ChangesAtWork::cut_off(std::size_t place, const std::string& change) {
  PlannedFault cut{.fault = Fault::cut, .victim = place, .change = change};
  for (std::size_t client = random_.below(2); client < settings_.clients; client += 2) {
    cut.clients.push_back(client);
  }
  return surroundings_.befall({&cut, 1}, recorder_);
}

Status ChangesAtWork::end_absences() {
  Status ended = Done{};
  std::erase_if(absences_, [&](const Absence& one) {
    if (stage_.elapsed() < one.until || !ended) return false;
    ended = end_absence(one.place);
    return true;
  });
  return ended;
}

Status ChangesAtWork::end_absence(std::size_t place) {
  nodes_.resume(place);
  nodes_.start(place);
  const PlannedFault heal{.fault = Fault::heal, .victim = place};
  return surroundings_.befall({&heal, 1}, recorder_);
}

Duration ChangesAtWork::between(Duration least, Duration most) {
  return least + Duration(random_.below(static_cast<std::uint64_t>((most - least).count())));
}

std::string ChangesAtWork::list() const {
  std::vector<std::string> addresses;
  for (const std::size_t place : members_) addresses.push_back(settings_.addresses[place]);
  return fmt::format("{}", fmt::join(addresses, ","));
}

void ChangesAtWork::end() {
  for (Strand& strand : strands_) strand.changer->end();
  stage_.until(
      [this] {
        return std::none_of(strands_.begin(), strands_.end(),
                            [](const Strand& strand) { return strand.changer->is_running(); });
      },
      kGoneWithin);
}

}  // namespace redlock::drill
