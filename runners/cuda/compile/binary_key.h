#pragma once

#include <span>
#include <string>

#include "engine/base/hash.h"
#include "engine/spec/launch.h"
#include "engine/spec/variant.h"

namespace warpath::cuda {

/// What a variant runs on one workload.
struct BinaryUse {
  Hash128 code_hash;  ///< of the machine code (CubinFacts)
  LaunchNumbers launch;
  ExtraNumbers extra{};  ///< other kernels launched with it
};

/// Level-1 identity of a variant: equal keys mean the same machine code launched with the same
/// numbers on every workload, so that one measurement serves both. `uses`: one per workload, in
/// spec order. 32 hexadecimal digits.
[[nodiscard]] std::string binary_key(std::span<const BinaryUse> uses);

}  // namespace warpath::cuda
