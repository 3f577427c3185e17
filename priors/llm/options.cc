#include "priors/llm/options.h"

#include "engine/plugin/option_codec.h"

namespace warpath {

const OptionGroupKind& LlmOptions::kind() {
  return option_group_kind<LlmOptions>();
}

}  // namespace warpath
