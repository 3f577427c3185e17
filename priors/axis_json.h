#pragma once

// Include only from .cc files, like engine/json_codec.h.

#include "engine/json_codec.h"
#include "priors/rule_table.h"

namespace warpath {

template <>
struct EnumWords<Axis> {
  static constexpr std::array<std::pair<std::string_view, Axis>, 3> rows{
      {{"compute", Axis::compute}, {"memory", Axis::memory}, {"latency", Axis::latency}}};
};

}  // namespace warpath
