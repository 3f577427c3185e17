#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "moves/syntax/unit.h"

namespace warpath::test {

/// What a synthetic spec is made for.
struct SyntheticSizes {
  std::int64_t elements;  ///< of every tensor
  std::int64_t points;    ///< of a size that is named like a count, in a grid of one axis
  std::vector<std::int64_t> extents;  ///< of further sizes in turn, the last one again
  std::int64_t blocks;                ///< of a grid of one axis
  std::int64_t blocks_per_axis;       ///< of a grid of several, on the first two
  bool runs = false;                  ///< tensors have contents, and the kernel is its reference
  int template_value = 4;             ///< of a parameter that is not named like the block
  bool positive = false;              ///< contents may be divisors, and those of floats indices
};

/// Sizes as on a GPU; nothing is run.
[[nodiscard]] SyntheticSizes device_sizes();
/// For the host runner, best guess first: a few thousand points in tensors that hold far more;
/// fewer in larger ones, with contents that may be divisors and indices; multiples of tiles as
/// large as the block.
[[nodiscard]] std::vector<SyntheticSizes> host_sizes();

/// A spec of the kernel: arguments by their types, sizes by their names, a launch by the indices
/// that the text uses. nullopt with the reason in `why` where a parameter has no such argument.
[[nodiscard]] std::optional<nlohmann::json> synthetic_spec(const model::Unit& unit,
                                                           const model::Function& kernel,
                                                           const std::string& text,
                                                           const SyntheticSizes& sizes,
                                                           std::string& why);

}  // namespace warpath::test
