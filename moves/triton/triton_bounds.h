#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "moves/triton/triton_kernel.h"

namespace warpath {

/// A bound of an integer: its value now, and Python that computes it from the kernel's constants,
/// for other values of tunables.
struct TritonBound {
  std::int64_t value = 0;
  std::string text;
  enum : int { sum, product, term } form = term;  ///< of the text
  bool varies = false;                            ///< it depends on tunables
};

/// Least and greatest value of an integer, or of the elements of a block of integers, over all
/// programs and iterations of a launch.
struct TritonInterval {
  TritonBound least, greatest;
  bool exact = false;  ///< there is one value
};

/// Intervals of a kernel's integers under one workload: of program_id, arange, loops, constants and
/// scalar arguments, and what is computed from them.
class TritonBounds {
 public:
  /// References must outlive it.
  TritonBounds(const TritonKernel& kernel, const MoveContext& context, const Workload& workload);

  [[nodiscard]] std::optional<TritonInterval> of(const python::Node& node);
  /// The comparison holds for all elements, programs and iterations.
  [[nodiscard]] bool holds(const python::Node& comparison);
  /// Now, and wherever the conditions hold.
  [[nodiscard]] bool is_at_least(const TritonBound& bound, std::int64_t least);
  /// What of tunables the answers so far rely on: conditions in Python.
  [[nodiscard]] const std::set<std::string>& conditions() const { return conditions_; }

 private:
  [[nodiscard]] std::optional<TritonInterval> name(std::string_view name);
  [[nodiscard]] std::optional<TritonInterval> defined(std::size_t statement, std::size_t target);
  [[nodiscard]] std::optional<TritonInterval> loop(const python::Node& range);
  [[nodiscard]] std::optional<TritonInterval> call(const python::Node& node);
  [[nodiscard]] std::optional<TritonInterval> swizzled(const python::Node& call,
                                                       std::size_t target);
  [[nodiscard]] bool converts_exactly(const python::Node& call) const;
  [[nodiscard]] std::optional<TritonInterval> binary(const python::Node& node);
  [[nodiscard]] std::optional<TritonInterval> quotient(const TritonInterval& a,
                                                       const TritonInterval& b,
                                                       bool rounds_up);
  [[nodiscard]] std::optional<TritonBound> constant(std::string_view name,
                                                    std::int64_t value) const;
  [[nodiscard]] std::optional<TritonBound> grid(std::size_t axis) const;
  [[nodiscard]] std::optional<TritonBound> bound(const Expression::Node& node) const;

  const TritonKernel& kernel_;
  const MoveContext& context_;
  const Workload& workload_;
  Bindings values_;
  std::set<std::string> conditions_;
  int depth_ = 0;
};

/// The axis of a call of program_id or num_programs; nullopt if it is not written out.
[[nodiscard]] std::optional<std::size_t> triton_axis(const python::Node& call);

}  // namespace warpath
