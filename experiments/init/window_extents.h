#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "moves/model/facts.h"

namespace warpath {

/// Extents of a kernel's guards that are differences of its parameters: W - 2 of `x < W - 2`, H - R
/// + 1 of `y > H - R` that returns. Where a thread gets past its guards they are positive.
class WindowExtents {
 public:
  explicit WindowExtents(const model::KernelFacts& facts);

  /// Parameters that are taken away from others in them: S and R of W - S, H - R + 1.
  [[nodiscard]] std::set<std::string> windows() const;
  /// Sums of positive terms, and products of such sums and of the extents.
  [[nodiscard]] bool positive(const model::Polynomial& p) const;
  /// A flat tensor with this many elements as a product with some of the extents, which are inner
  /// ones: [C * N, H - 2, W - 2]; nullopt: it is none. `index`: of an access to it.
  [[nodiscard]] std::optional<std::vector<model::Polynomial>> shape_of(
      const model::Polynomial& elements, const model::Polynomial& index) const;

 private:
  struct Extent {
    model::Polynomial value;
    std::string name;  // a parameter that it is the sum of and something else
  };
  [[nodiscard]] static std::optional<model::Polynomial> quotient(const model::Polynomial& p,
                                                                 const Extent& extent);

  std::vector<Extent> extents_;
};

}  // namespace warpath
