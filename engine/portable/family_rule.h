#pragma once

#include "engine/portable/value.h"

/// What an input family is told of a tensor.
namespace warpath {

/// Kinds of values that replace those of a declared rule, to expose kernels that are correct for
/// one distribution only. Names in snake_case as in `kInputFamilies`.
enum class InputFamily : int {
  as_declared,
  // Stress: values that distributions rarely give.
  tiny,            ///< times 2^-20; 16-bit types: 2^-6
  huge,            ///< times 2^10; 16-bit types: 2^4
  shifted,         ///< plus 1000 * scale
  constant,        ///< one of the tensor's own values everywhere
  sparse,          ///< nine of ten are zero
  heavy_tail,      ///< divided by the square root of a uniform number
  small_integers,  ///< -1, 0, 1
  mantissa,        ///< +-(1 + j * 2^-23), j random; float64: 2^-52
  cancellation,    ///< +-(1 + u * 2^-10) * scale, the sign alternating along rows and columns
  sorted_ties,     ///< eight ascending steps of scale / 2 along the last dimension
  rare_outliers,   ///< one in 1024 is as in `huge`, except in the first 4096
  specials,        ///< one in 2048 each is infinite, -0 and nearly 0
  offset,          ///< plus 10 * scale
  far_offset,      ///< plus 100 * scale
  unit_row,        ///< the first row is 1, 0, 0, ...; the others as declared
  far_below,       ///< minus 2^17 * scale; 16-bit types: 1000 * scale
  faint,           ///< times 2^-40; 16-bit types: 2^-10
  /// one element of each line, anywhere, plus 16 * scale in every other line, otherwise plus a
  /// random multiple from 4 to 16
  peaked,
  /// plus 10 * scale in every other tensor, minus as much in those between; in form 1 the reverse
  opposed,
  far_above,      ///< plus 2^17 * scale; 16-bit types: 1000 * scale
  at_most_zero,   ///< negative; one element of eight is +0 and one is -0
  at_least_zero,  ///< positive; one element of eight is +0 and one is -0
  /// rounded to a multiple of a power of two from scale down to 2^-8 * scale; one element of eight
  /// is a scalar argument of the kernel (FamilyRule::landmarks), or next to it
  coarse,
  /// Integers only; half of the elements are the least or greatest value of the rule or next to
  /// one. Where the rule has every value of the type, also 0, -1, 1, and, the same in every 16
  /// bytes, a repeated digit of four bits, a power of two, or next to these. In forms 1 and 2 all
  /// are within four values of the greatest, of the least: sums of lines are large and equal. In
  /// form 3 they are of every size, powers of two among them: as many leading bits are gone in the
  /// same place of all tensors.
  extremes,
  lone,  ///< 0 but for one element of each line, which keeps its value (integers: not 0)
  /// lines of eight magnitudes, from 2^4 down to 2^-24; 16-bit types: from 2 to 2^-6; zeros are
  /// other numbers first. Scalar arguments: scalar_on()
  other_scalars,
  /// the first tensor 2^7 * scale everywhere, the second as much below 0. Their products are equal,
  /// and less than a number that stands for -infinity.
  far_apart,
  /// whole and half multiples of a power of two, which the greatest of every 32 elements of a line
  /// is 127, 255, 7 or 15 times: where a quotient by a scale that follows from it is rounded, it is
  /// exact, and often a tie
  halves,
  /// minus 1 in every other line, from the first, otherwise 1, and up to seven last places more: as
  /// ordinary numbers, which differ in their last bits alone
  adjacent,
  /// NaN: one element in 64 of some lines, the first of others, all of others; in form 1 all. For
  /// kernels that look for it (looks_for_nan()).
  not_a_number,
  /// one element of each line, of long ones one of each 1024, times 2^28; 16-bit types: 2^4. What
  /// is added and taken away again, such as a running sum of a window, loses the others by it.
  /// In form 1 none is: results that are the same then are judged.
  outlier,
  /// some eight elements of each line, a power of two apart, plus 16 * scale: a thread that has
  /// every so many elements has all of the largest
  lined_up,
  // Near the ends of the type's range, floating-point types only. Form 1 has the same digits
  // near 1.
  vast,       ///< so large that sums of squares fit: times 2^48; float64: 2^500, float16: 2^5
  lowest,     ///< negative, times 2^102; float64: 2^1010, float16: 2^12
  highest,    ///< positive, as large
  subnormal,  ///< a multiple of the least magnitude, too small for a leading digit; or 0
  // At its end.
  /// -infinity in some lines, four beside each other where there are many, in the first quarter of
  /// others, and in others beside the least finite number. In form 1 two finite numbers below all
  /// others instead.
  bottom,
  /// every other line is infinite, from the second on, but not the first or last one of a matrix of
  /// three and more: what lies outside may be read there, and multiplied by 0; in form 1 none is
  infinite_lines,
  /// one line of 16 is infinite, and the first; of a vector so many elements; in form 1 none is.
  /// For tensors beside offsets, whose ranges are finite between these, or beside places of which
  /// -1 is none.
  few_infinite_lines,
  /// one element of each line is infinite, of long ones one of each 1024; in form 1 none is. For
  /// tensors beside a mask: one of zeros and ones.
  masked_infinities,
  // Structures, of which a kernel may take a short cut. A matrix is the last two dimensions. Kinds
  // listed in brackets are separate forms (FamilyRule::form); sizes and other random choices follow
  // from the seed.
  /// 1 where line and column are equal, otherwise 0; integers: consecutive along the last
  /// dimension and modulo their range, [from anywhere in it or, but for one element, from 0; each
  /// the place before its own, in chains of 16384]
  identity,
  permutation,  ///< one 1 per line, otherwise 0, in [shifted, reversed] order
  triangular,   ///< 0 [above, below, above and below but for one beside] the diagonal
  /// 0 in [some lines, some columns, a rectangle] of every matrix, [at its begin, in the middle, at
  /// its end]
  zero_block,
  /// [one of the tensor's own values, 0] everywhere, but for one element 1 in place of the former
  /// (integers: not); for integers also [the least, the greatest] and, where the rule has every
  /// value of the type, [a repeated digit 8 of four bits]
  one_value,
  /// a tile of the tensor's own values, repeated [beside, below, beside and below] each other
  repeated_tile,
  /// one half [of every line, of the tensor] equals the other; of square matrices also [that below
  /// the diagonal the one above, every line the one before, moved on by one, and that below the
  /// diagonal the one above with the other sign]
  half_copy,
  low_rank,  ///< a column times a row
  /// [ascending, descending] along the last dimension; integers: through their range
  ascending,
  /// in every line [zeros in every other column, from the first, from the second; two neighbours,
  /// three of four equal; the second half the first, mirrored] and, of floating-point numbers,
  /// [all at equal distances]
  regular,
  /// the same values in all tensors, every other one of which has [nothing changed, the sign
  /// changed, lines turned by a number of places each, lines and columns exchanged]; integers among
  /// themselves, and in place of the sign the distance from the ends of the range: all bits are
  /// others
  alike,
};

/// Elements that depend on each other, of which a family is another arrangement.
enum class Arrangement : int {
  none,
  permutation,  ///< of 0 to row - 1 in every line: InputFamily::identity, permutation
  /// ascending offsets from 0 to FamilyRule::greatest: InputFamily::ascending, with seven of eight
  /// ranges empty (upwards), the last ones longest (downwards), or all, up to FamilyRule::longest,
  /// in the last range or in the first, with that at the other end empty; but for one element even,
  /// of which one is empty (upwards) or an element longer (downwards), or all but one in that range
  offsets,
};

/// How a tensor's values are replaced: element i is a function of this, its own value, i, and the
/// own value of family_source(i).
struct FamilyRule {
  InputFamily family;
  int form;  ///< of a structure: which of its kinds, modulo structure_forms()
  Arrangement arrangement;
  DType dtype;  ///< a floating-point type; others are changed only by families of own values and
                ///< zeros
  portable::Word seed;
  portable::Word common_seed;  ///< of all tensors of a set
  portable::Word elements;
  portable::Word row;    ///< last dimension, at least 1 if there are elements
  portable::Word lines;  ///< last but one; 1 if there is none
  double scale;          ///< spread of the declared rule
  bool nonnegative;      ///< take the absolute value: the declared rule has no negative values
  /// of floating-point numbers, where low < high: what is beyond keeps its own value, since the
  /// declared rule has one sign and stays away from zero. Of a structure the ends of that rule.
  double low, high;
  bool holds_zero;         ///< of integers: 0 is a value of the declared rule
  bool holds_all;          ///< of integers: so is every value of the type
  double least, greatest;  ///< of integers: values of the declared rule
  bool finite_sides;       ///< InputFamily::infinite_lines leaves the first and last column finite
  double longest;          ///< of offsets: the most elements that a range may have
  double landmarks[2];     ///< values that the kernel may compare with: its scalar arguments
  int landmark_count;
  /// this element keeps its own value, as the exception to a structure; kNoElement: none
  portable::Word odd;
  /// so does one of every so many elements, at any place among them; 0: none
  portable::Word odd_group;
};
constexpr portable::Word kNoElement = ~portable::Word{0};

}  // namespace warpath
