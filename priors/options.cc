#include "priors/options.h"

#include "engine/plugin/option_codec.h"

namespace warpath {

const OptionGroupKind& PriorOptions::kind() {
  return option_group_kind<PriorOptions>();
}

}  // namespace warpath
