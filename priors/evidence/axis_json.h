#pragma once

// Include only from .cc files, like engine/json/json_codec.h.

#include "engine/json/json_codec.h"
#include "priors/evidence/rule_table.h"

namespace warpath {

template <>
struct EnumWords<Axis> {
  static constexpr std::array<std::pair<std::string_view, Axis>, 3> rows{
      {{"compute", Axis::compute}, {"memory", Axis::memory}, {"latency", Axis::latency}}};
};

}  // namespace warpath
