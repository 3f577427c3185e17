#include "runners/synthetic/options.h"

#include "engine/plugin/option_codec.h"

namespace warpath {

const OptionGroupKind& SyntheticOptions::kind() {
  return option_group_kind<SyntheticOptions>();
}

}  // namespace warpath
