#pragma once

// The words of stages. Include only from .cc files.

#include "engine/json/json_codec.h"
#include "engine/plugin/runner.h"

namespace warpath {

template <>
struct EnumWords<Stage> {
  static constexpr auto rows = rows_of<Stage>(kStageNames);
};

}  // namespace warpath
