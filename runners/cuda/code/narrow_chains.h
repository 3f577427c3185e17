#pragma once

#include <cstddef>
#include <map>
#include <string_view>

#include "runners/cuda/code/ptx.h"

namespace warpath::cuda {

/// How many additions and products of 16-bit floating-point numbers a result has gone through, one
/// after the other, since it was last wider: through moves, exchanges between lanes and shared
/// memory, too. One that goes round a loop has more than `kMost`. Of a function as PTX; linear
/// time.
class NarrowChains {
 public:
  static constexpr std::size_t kMost = 8;  ///< where counting ends

  explicit NarrowChains(const PtxFunction& function);
  /// Of what `instruction` of the function makes, itself counted; 0 if it is no such arithmetic.
  [[nodiscard]] std::size_t length(const PtxInstruction& instruction) const;

 private:
  [[nodiscard]] std::size_t before(const PtxInstruction& instruction) const;

  std::map<std::string_view, std::size_t> of_register_;
  std::size_t of_memory_ = 0;  ///< shared and local
};

}  // namespace warpath::cuda
