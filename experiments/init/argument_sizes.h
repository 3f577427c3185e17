#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/spec/expression.h"

namespace warpath {

/// Values of a kernel's integers where no launch gives them.
struct ArgumentSizes {
  Bindings gpu, host;
  std::map<std::string, std::string> why;  ///< by name, of the guessed ones
  /// Of the guessed ones that are strides and nothing else: the extent of what lies within them.
  std::map<std::string, Expression> strides{};

  /// Gives the strides the values of their extents.
  void settle_strides();
};

/// Why an enumeration is 0 where nothing gives its value.
inline constexpr std::string_view kFirstEnumerator = "the first of an enumeration is taken";

/// What the sizes of a kernel are chosen by.
struct SizeQuestion {
  std::vector<std::string> integers;  ///< parameters, then sizes of the spec alone, in order
  std::set<std::string> extents;      ///< those that some grid, tensor or loop has as an extent
  std::set<std::string> of_grid;      ///< those of the grid
  std::set<std::string> alone{};      ///< of those the ones that an axis of the grid is
  std::size_t rank = 1;               ///< most names in one tensor's extents
  std::set<std::string> divisors{};   ///< names_divided_by of the text: none may be 0
  /// By one of `alone`: what the number of its axis's points is a product of.
  std::map<std::string, std::set<std::string>> of_points{};
  std::set<std::string> choices{};            ///< values of enumerations: their first
  std::set<std::string> windows{};            ///< WindowExtents::windows
  std::set<std::int64_t> multiples;           ///< of which sizes should be multiples
  std::map<std::string, std::int64_t> given;  ///< by a launch
  /// Elements that a block covers, of sizes of the grid.
  std::map<std::string, std::int64_t> steps{};
  std::set<std::string> whole{};  ///< of these the ones that are whole blocks in any case
  std::map<std::string, std::string> strides{};  ///< as ArgumentSizes::strides, over other integers
};

/// A product that must not exceed a number.
struct SizeLimit {
  std::vector<Expression> factors;
  std::int64_t gpu = 0, host = 0;
};

/// True for `lda` and the like, as linear algebra calls what is at least as long as a row.
[[nodiscard]] bool is_leading_dimension(const std::string& name);

/// Names that stand behind `/` or `%` in a kernel's text, and those that their values are computed
/// from.
[[nodiscard]] std::set<std::string> names_divided_by(const std::string& text);

/// How many elements of `element_bytes` the widest vector type has that the text points to, as in
/// `reinterpret_cast<float4*>(x + i)`; 1 if there is none. Rows that are read so begin at multiples
/// of it.
[[nodiscard]] std::int64_t elements_read_at_once(const std::string& text,
                                                 std::int64_t element_bytes);

/// The least common multiple of what sizes should be multiples of, as far as it is small.
[[nodiscard]] std::int64_t size_step(const std::set<std::int64_t>& multiples);

/// Halves guessed sizes, on the host also those that are smaller there, the largest first, down to
/// `step`, and below it where that is not enough, until they are within the limits where that is
/// possible. True if one changed.
bool fit_sizes(ArgumentSizes& sizes, const std::vector<SizeLimit>& limits, std::int64_t step);

/// A few megabytes a tensor on a GPU, a few thousand elements on the host.
[[nodiscard]] ArgumentSizes argument_sizes(const SizeQuestion& question);

}  // namespace warpath
