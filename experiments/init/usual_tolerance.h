#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "engine/base/dtype.h"

namespace warpath {

/// The tolerance of a spec whose kernel writes tensors of these types: integers exactly, others as
/// far as rounding in another order goes.
[[nodiscard]] nlohmann::ordered_json usual_tolerance(const std::map<std::string, DType>& written);

}  // namespace warpath
