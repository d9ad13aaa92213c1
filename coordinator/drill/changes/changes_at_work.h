// ChangesAtWork: in a drill, a group that changes all the time while clients work, which are not
// told. Members are replaced, and the group grows from five to seven and shrinks again; a newcomer
// is a new process in a folder of its own, or a former member that comes back. Who was replaced or
// removed goes on as if nothing had happened, or is stopped, killed, or cut off from some clients,
// and is there again later: it must be harmless (rule G5). Changers make the changes (changer.h),
// now and then two at once.
//
// Unlike the plan (plan/faults.h) it cannot know ahead how long a change takes, so it draws the
// next one when the last is done. The same seed makes the same draws.
//
// Thread safety: none; all on the loop's thread.
#pragma once

#include "coordinator/drill/changes/changer.h"
#include "coordinator/drill/surroundings/surroundings.h"
#include "coordinator/drill/world/nodes_at_work.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace redlock::drill {

// The places of nodes; those who are no members have the others.
inline constexpr std::size_t kChangePlaces = 10;
inline constexpr std::size_t kChangers = 2;

struct ChangesSettings {
  std::uint64_t seed = 1;
  std::string folder;                  // for what the changers print
  std::vector<std::string> addresses;  // kChangePlaces, as the group names them
  std::size_t members = 5;             // the first of them
  std::size_t clients = 16;
  Duration between{0};  // two changes, at least: what rule G3 wants
};

class ChangesAtWork {
 public:
  ChangesAtWork(Stage& stage, Recorder& recorder, NodesAtWork& nodes, Surroundings& surroundings,
                ChangesSettings settings);
  ChangesAtWork(const ChangesAtWork&) = delete;
  ChangesAtWork& operator=(const ChangesAtWork&) = delete;

  // Does what is due. To be called whenever the stage is woken. Why the drill cannot go on,
  // if it cannot.
  Status look();
  // No more changes; waits for the changers' end.
  void end();

  // The places of those who are members, as far as the last change that was done.
  const std::vector<std::size_t>& members() const { return members_; }
  std::size_t done() const { return done_; }
  // Their addresses, separated by commas, as an operator would look them up.
  std::string list() const;

 private:
  enum class Kind { replace, add, remove };
  // What becomes of who is replaced or removed.
  enum class Fate { stays, stopped, killed, cut };
  struct Change {
    Kind kind = Kind::replace;
    std::optional<std::size_t> old_place = {};  // replace, remove
    std::optional<std::size_t> new_place = {};  // replace, add
    Fate fate = Fate::stays;
    bool is_early = false;  // its fate comes before the change, not with its end
    std::string text = {};
  };
  // Who makes changes one after the other.
  struct Strand {
    std::unique_ptr<Changer> changer;
    std::optional<Change> change = {};
    bool is_begun = false;  // not: the newcomer does not answer yet
  };
  // Someone who is stopped, killed or cut off, and for how long yet.
  struct Absence {
    std::size_t place = 0;
    Duration until{0};
  };

  Status go_on(Strand& strand);
  Status draw(Strand& strand);
  Kind draw_kind();
  std::size_t draw_old();
  std::size_t draw_newcomer();
  std::string text_of(const Change& change) const;
  Status bring(const Change& change);
  void order(Strand& strand);
  Status finish(Strand& strand);
  Status befall_old(const Change& change);
  Status cut_off(std::size_t place, const std::string& change);
  Status end_absences();
  Status end_absence(std::size_t place);
  bool is_in_change(std::size_t place) const;
  bool chance(std::uint64_t percent) { return random_.below(100) < percent; }
  Duration between(Duration least, Duration most);

  Stage& stage_;
  Recorder& recorder_;
  NodesAtWork& nodes_;
  Surroundings& surroundings_;
  const ChangesSettings settings_;
  Random random_;
  std::vector<std::size_t> members_;
  std::size_t wanted_members_;
  std::vector<Strand> strands_;
  std::vector<Absence> absences_;
  Duration next_at_{0};
  std::size_t done_ = 0;
};

}  // namespace redlock::drill
