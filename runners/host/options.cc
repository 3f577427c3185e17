#include "runners/host/options.h"

#include "engine/plugin/option_codec.h"

namespace warpath {

const OptionGroupKind& HostOptions::kind() {
  return option_group_kind<HostOptions>();
}

}  // namespace warpath
