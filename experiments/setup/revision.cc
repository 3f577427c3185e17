#include "experiments/setup/revision.h"

#include "experiments/version.h"

namespace warpath {

std::string_view revision() {
  return WARPATH_REVISION;
}

}  // namespace warpath
