// What a drill of partitions has to show beyond what check.h looks for, read from its history:
// whoever is cut off from a quorum gets no lock and is soon told so, the others go on, and after
// the healing all do.
#pragma once

#include "coordinator/drill/history/history.h"

#include <string>
#include <vector>

namespace redlock::drill {

struct PartitionCheckTerms {
  Duration ttl = 2s;
  // The longest that an attempt takes, if the nodes do not answer.
  Duration attempt_max = 3s;
};

struct PartitionReport {
  int cut_off = 0;                       // times that a client was left without a quorum of nodes
  int refused = 0;                       // attempts that began and ended then: without a quorum
  Duration refused_within{0};            // the longest of these
  int acquired_by_others = 0;            // meanwhile, by clients that still had a quorum
  Duration back_within{0};               // the longest that a client needed for its next lock
  std::vector<std::string> differences;  // from what should be, for people

  std::string text() const;
};

PartitionReport check_partitions(const History& history, const PartitionCheckTerms& terms);

}  // namespace redlock::drill
