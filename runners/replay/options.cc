#include "runners/replay/options.h"

#include "engine/plugin/option_codec.h"

namespace warpath {

const OptionGroupKind& ReplayOptions::kind() {
  return option_group_kind<ReplayOptions>();
}

}  // namespace warpath
