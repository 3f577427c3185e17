#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "moves/triton/triton_kernel.h"

namespace warpath {

/// Extents of a block as Python, "1" where it has one element along an axis; none: a scalar.
using TritonShape = std::vector<std::string>;

/// Shapes of a kernel's values, as far as the text says them.
class TritonShapes {
 public:
  explicit TritonShapes(const TritonKernel& kernel) : kernel_(kernel) {}  ///< must outlive it

  /// nullopt: not known, or it takes too many steps to find out.
  [[nodiscard]] std::optional<TritonShape> of(const python::Node& node);

 private:
  [[nodiscard]] std::optional<TritonShape> name(std::string_view name);
  [[nodiscard]] std::optional<TritonShape> defined(const python::Statement& statement,
                                                   std::string_view name);
  [[nodiscard]] std::optional<TritonShape> call(const python::Node& node);
  [[nodiscard]] std::optional<TritonShape> subscript(const python::Node& node);
  [[nodiscard]] std::optional<TritonShape> all_of(const python::Node& node);

  const TritonKernel& kernel_;
  std::map<std::string_view, std::optional<TritonShape>> assumed_;  // of names that are looked at
  int steps_ = 0;
};

/// The shape that operands of these shapes are brought to; nullopt if the texts do not say.
[[nodiscard]] std::optional<TritonShape> broadcast(const std::optional<TritonShape>& a,
                                                   const std::optional<TritonShape>& b);

}  // namespace warpath
