#pragma once

#include <span>
#include <string>

#include "engine/base/hash.h"
#include "engine/spec/launch.h"
#include "engine/spec/variant.h"

namespace warpath::cuda {

/// What one workload runs.
struct BinaryUse {
  Hash128 code_hash;  ///< of the machine code (CubinFacts)
  LaunchNumbers launch;
  ExtraNumbers extra{};  ///< what else is launched
};

/// Level-1 identity of a variant: equal keys mean the same machine code launched with the same
/// numbers for every workload, so that one measurement serves both. `uses`: one for each workload,
/// in the order of the spec. 32 hexadecimal digits.
[[nodiscard]] std::string binary_key(std::span<const BinaryUse> uses);

}  // namespace warpath::cuda
