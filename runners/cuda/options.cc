#include "runners/cuda/options.h"

#include "engine/plugin/option_codec.h"

namespace warpath {

const OptionGroupKind& CudaOptions::kind() {
  return option_group_kind<CudaOptions>();
}

}  // namespace warpath
