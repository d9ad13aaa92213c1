#include "coordinator/drill/plan/faults.h"

namespace redlock::drill {

bool begins_harm(Fault fault) {
  return fault == Fault::kill || fault == Fault::stop || fault == Fault::restart ||
         fault == Fault::cut || fault == Fault::slow || fault == Fault::jump;
}

bool is_of_process(Fault fault) {
  return fault == Fault::kill || fault == Fault::start || fault == Fault::stop ||
         fault == Fault::resume || fault == Fault::restart;
}

}  // namespace redlock::drill
