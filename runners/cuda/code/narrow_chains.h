#pragma once

#include <cstddef>
#include <map>
#include <string_view>

#include "runners/cuda/code/ptx.h"

namespace warpath::cuda {

/// The number of consecutive additions and products in 16-bit floating point that a value has gone
/// through since it was last wider, also across moves, lane exchanges and shared memory. A chain
/// through a loop is longer than `kMost`. Analyses a PTX function in linear time.
class NarrowChains {
 public:
  static constexpr std::size_t kMost = 8;  ///< counting stops here

  explicit NarrowChains(const PtxFunction& function);
  /// Length of the chain that ends in the result of `instruction`, itself included; 0 if it is not
  /// such arithmetic.
  [[nodiscard]] std::size_t length(const PtxInstruction& instruction) const;

 private:
  [[nodiscard]] std::size_t before(const PtxInstruction& instruction) const;

  std::map<std::string_view, std::size_t> of_register_;
  std::size_t of_memory_ = 0;  ///< shared and local memory
};

}  // namespace warpath::cuda
