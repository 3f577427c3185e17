#include "runners/cluster/options.h"

#include "engine/plugin/option_codec.h"

namespace warpath {

const OptionGroupKind& ClusterOptions::kind() {
  return option_group_kind<ClusterOptions>();
}

}  // namespace warpath
