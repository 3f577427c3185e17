#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "moves/model/affine.h"
#include "moves/syntax/unit.h"

namespace warpath {

/// What a launch `kernel<<<grid, block, smem>>>(...)` in host code says, as far as it consists of
/// constants: followed through variables that are set once, dim3, macros, helpers of one return and
/// integer arithmetic. Sizes are over the kernel's parameters where host code passes the same
/// expression to them.
struct HostLaunch {
  std::size_t line = 0;      ///< in the host code
  std::size_t launches = 0;  ///< of this kernel there
  /// They have several template arguments, such as the cases of a switch: this is the one in the
  /// middle; otherwise the first.
  bool instances_differ = false;
  /// Calls of the launching function give it several: these are the first's.
  bool calls_differ = false;
  std::array<std::optional<model::Polynomial>, 3> grid, block;
  std::optional<model::Polynomial> dynamic_smem_bytes;
  std::map<std::string, std::int64_t> integers;    ///< by parameter
  std::map<std::string, double> numbers;           ///< of floating-point parameters
  std::map<std::string, model::Polynomial> bytes;  ///< of what cudaMalloc gave to a pointer
  /// Empty for one that only the launching function knows.
  std::vector<std::string> template_arguments;

  /// Threads of a block along an axis, where the launch has a number for all that they are made of.
  [[nodiscard]] std::optional<std::int64_t> threads(std::size_t axis) const;
};

/// "f<float, pair<a, b>>" gives float and pair<a, b>; a name without arguments none.
[[nodiscard]] std::vector<std::string> template_arguments_in(std::string_view name);

/// nullopt if `host` does not launch the kernel. `sizes`: constants that sizes are said with.
[[nodiscard]] std::optional<HostLaunch> find_launch(const model::Unit& host,
                                                    const model::Function& kernel,
                                                    const Bindings& sizes = {});

}  // namespace warpath
