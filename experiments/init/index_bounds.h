#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "experiments/init/index_sources.h"
#include "experiments/init/window_extents.h"
#include "moves/model/facts.h"

namespace warpath {

/// How far the indices of a kernel reach, as sizes over its parameters, "blockDim.x" and
/// "gridDim.x", from the guards and loops around each access.
class IndexBounds {
 public:
  /// `assumed`: polynomials that are >= 0 because the launch is exact.
  IndexBounds(const model::KernelFacts& facts, std::vector<model::Polynomial> assumed);

  /// One more than the largest index; nullopt where the model does not follow it. A value that is
  /// loaded from an array is at most that array's `range_name` - 1.
  [[nodiscard]] std::optional<model::Polynomial> end_of(const model::Access& access);
  /// The shape of a flat tensor with this many elements: the strides of the access are its inner
  /// extents.
  [[nodiscard]] std::vector<model::Polynomial> shape_of(const model::Polynomial& elements,
                                                        const model::Access& access) const;

  /// The sizes that the index is computed from, where it cannot be followed; nullopt if it is made
  /// of values that no declaration gives.
  [[nodiscard]] std::optional<std::set<std::string>> sizes_behind(
      const model::Access& access) const;

  /// How many values the other factor of the stride takes in the index, such as k of `k * stride`.
  [[nodiscard]] std::optional<model::Polynomial> extent_beside(const model::Access& access,
                                                               const model::Polynomial& stride);
  /// Parameters that are strides of indices and nothing else, and the extent of what lies within
  /// them. Of several in one index the parameter that comes first is the outermost.
  [[nodiscard]] std::map<std::string, model::Polynomial> strides();

  /// Stands for one more than the largest value in the array.
  [[nodiscard]] static std::string range_name(const std::string& array) { return "#" + array; }
  /// Arrays whose values say where a loop begins and ends: row pointers. Their largest value itself
  /// is `range_name`.
  [[nodiscard]] const std::set<std::string>& row_pointers() const { return row_pointers_; }
  [[nodiscard]] const WindowExtents& windows() const { return windows_; }
  /// Constants that sizes should be multiples of: widths of tiles in unguarded loops.
  [[nodiscard]] const std::set<std::int64_t>& multiples() const { return multiples_; }

 private:
  [[nodiscard]] bool is_size(const std::string& name) const;
  [[nodiscard]] bool varies(const std::string& name, const model::Access& access) const;
  [[nodiscard]] std::size_t varying(const model::Polynomial& p, const model::Access& access) const;
  bool by_guard(model::Polynomial& p, const model::Access& access) const;
  bool by_loop(model::Polynomial& p, const model::Access& access);
  bool by_operation(model::Polynomial& p, const model::Access& access, int depth);
  [[nodiscard]] bool moves_with_points(const std::string& pointer,
                                       const model::Access& access) const;
  std::optional<model::Polynomial> larger_of(const model::Polynomial& a,
                                             const model::Polynomial& b,
                                             const model::Access& access,
                                             int depth);
  bool by_declaration(model::Polynomial& p, const model::Access& access) const;
  bool by_launch(model::Polynomial& p) const;
  std::optional<model::Polynomial> largest(model::Polynomial p,
                                           const model::Access& access,
                                           int depth);
  std::optional<model::Polynomial> largest_of(const model::Atom& atom,
                                              const model::Access& access,
                                              int depth);

  const model::KernelFacts& facts_;
  std::vector<model::Polynomial> assumed_;
  /// >= 0 in the loop's body: conditions of loops that count nothing.
  std::map<const model::Loop*, std::vector<model::Polynomial>> conditions_;
  DeclaredValues values_;
  WindowExtents windows_;
  std::set<std::string> row_pointers_;
  std::set<std::int64_t> multiples_;
};

/// The array that a load in a polynomial reads; empty for other operations.
[[nodiscard]] std::string loaded_array(const model::Atom& atom);

/// What the points along an axis of the grid are divided by, as in `i / width` and `i % width`:
/// they are as many as all of these make up.
[[nodiscard]] std::set<std::string> extents_of_points(const model::KernelFacts& facts,
                                                      const std::string& axis);

}  // namespace warpath
