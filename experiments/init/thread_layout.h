#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "experiments/project/host_launch.h"
#include "experiments/project/kernel_signature.h"
#include "moves/model/facts.h"

namespace warpath {

/// An extent of a launch that no text states.
struct LayoutGuess {
  std::string part;  ///< "block", "grid" or "dynamic_smem_bytes"
  std::size_t axis = 0;
  std::string why;
};

/// Threads of a block along one axis.
struct ThreadExtent {
  std::int64_t value = 1;
  std::string said{};     ///< over the kernel's parameters, as host code says; empty: `value`
  std::string tunable{};  ///< its name if moves may change it; otherwise empty
  bool in_text = false;   ///< the tunable is a constant of the file
};

/// Blocks of a grid along one axis: ceil_div(size, step), at most `most`.
struct GridExtent {
  std::optional<model::Polynomial> exact;  ///< as host code says; otherwise as follows
  model::Polynomial size = 1, step = 1;
  std::int64_t most = 0;  ///< 0: none
};

/// The threads that a kernel is written for.
struct ThreadLayout {
  std::array<ThreadExtent, 3> block;
  std::array<GridExtent, 3> grid;
  std::string smem_bytes = "0";     ///< dynamic shared memory, as host code says
  std::int64_t smem_of_thread = 0;  ///< otherwise; 0: none
  /// Sizes that no parameter gives: the kernel takes them from the grid.
  std::vector<std::string> sizes;
  std::map<std::string, std::int64_t> given;  ///< those that host code has a number for
  /// Integer parameters that no index, guard or loop mentions, and no axis of the grid.
  std::vector<std::string> unused;
  /// >= 0, since the grid covers its sizes exactly.
  std::vector<model::Polynomial> assumed;
  std::vector<LayoutGuess> guesses;

  /// Block, grid and dynamic shared memory as expressions of a spec, with the tunables' names or
  /// their default values.
  [[nodiscard]] std::string block_text(std::size_t axis, bool tunables) const;
  [[nodiscard]] std::string grid_text(std::size_t axis, bool tunables) const;
  [[nodiscard]] std::string smem_text(bool tunables) const;
  /// A size over blockDim and gridDim as an expression without tunables.
  [[nodiscard]] std::string text(const model::Polynomial& size) const;

 private:
  [[nodiscard]] std::string with_block(std::string text, bool tunables) const;
};

/// The layout of the kernel: from the launch where there is one, otherwise from its indices and
/// guards. `text`: the kernel with what it calls.
[[nodiscard]] ThreadLayout thread_layout(const model::KernelFacts& facts,
                                         const std::string& text,
                                         const std::optional<HostLaunch>& launch,
                                         const std::vector<KernelParameter>& parameters,
                                         const std::vector<TemplateArgument>& arguments);

inline constexpr std::array<const char*, 3> kLaunchAxes{"x", "y", "z"};

}  // namespace warpath
