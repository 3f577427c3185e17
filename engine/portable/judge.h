#pragma once

#include "engine/portable/value.h"

/// Judgement of one element and summation of norms, the same on host and device.
namespace warpath {

/// What is infinite, and whether it is NaN instead, depends on the order of operations. Where
/// infinities come from determines what may differ from the reference.
enum class Infinities : int {
  none,
  made,  ///< of finite inputs, by a division or an overflow: two non-finite values agree
  /// As `made`, and a value near the end of the range of single precision agrees with one that is
  /// not finite: partial results of another order are larger, and overflow.
  overflowing,
  /// Beside zeros, to expose skipped multiplications by zero: two non-finite values agree, and NaN
  /// agrees with anything; a finite number where the reference has none is wrong.
  beside_zeros,
  /// In whole lines of the inputs, where results that do not depend on them are judged: two
  /// non-finite values agree, and where the reference has NaN any value is accepted. NaN is no
  /// answer where the reference is finite.
  in_lines,
  /// Anywhere: where the reference has NaN, any value is accepted (a mask may multiply or select).
  anywhere,
  /// None, but NaN in the inputs of a kernel that looks for it. NaN agrees with NaN, whatever its
  /// bits.
  none_but_nan,
};

/// True if inputs are infinite.
inline bool are_given(Infinities infinities) {
  return infinities == Infinities::beside_zeros || infinities == Infinities::anywhere;
}

namespace portable {

/// Sum of squares without overflow or underflow: terms are summed in three classes of magnitude,
/// the outer two scaled by 2^600 and 2^-600 (Blue 1978).
struct SquareSum {
  double small, middle, large;
};

inline void add(SquareSum& sum, const SquareSum& other) {
  sum.small += other.small;
  sum.middle += other.middle;
  sum.large += other.large;
}

/// Adds x^2; `x` must be finite.
inline void add_square(SquareSum& sum, double x) {
  const double magnitude = fabs(x);
  if (magnitude > 0x1p480) {
    const double y = x * 0x1p-600;
    sum.large += y * y;
  } else if (magnitude >= 0x1p-480) {
    sum.middle += x * x;
  } else {
    const double y = x * 0x1p600;
    sum.small += y * y;
  }
}

/// Adds (a - b)^2; both must be finite, their difference need not be.
inline void add_difference(SquareSum& sum, double a, double b) {
  const double difference = a - b;
  if (is_finite(difference)) return add_square(sum, difference);
  const double y = a * 0x1p-600 - b * 0x1p-600;
  sum.large += y * y;
}

/// A result of this magnitude or more may overflow where its parts are combined in another order.
inline constexpr double kNearOverflow = 0x1p112;

/// |out - reference| over atol + rtol*|reference|. Infinite if the class differs or the bound is 0
/// and the values are not equal; two infinities of one sign and two NaNs agree, as do values
/// excused by `infinities`.
inline double error_ratio(double out,
                          double reference,
                          double atol,
                          double rtol,
                          Infinities infinities = Infinities::none) {
  const double infinity = double_of(0x7ff0000000000000ULL);
  if (!is_finite(out) || !is_finite(reference)) {
    const bool both = is_nan(out) && is_nan(reference);
    const bool neither = !is_finite(out) && !is_finite(reference);
    const double finite = is_finite(out) ? out : reference;
    const bool excused =
        (infinities != Infinities::none && infinities != Infinities::none_but_nan && neither) ||
        (are_given(infinities) && is_nan(out)) ||
        (infinities == Infinities::overflowing && fabs(finite) >= kNearOverflow) ||
        ((infinities == Infinities::anywhere || infinities == Infinities::in_lines) &&
         is_nan(reference));
    return both || out == reference || excused ? 0 : infinity;
  }
  const double error = fabs(out - reference);
  if (error == 0) return 0;
  const double bound = atol + rtol * fabs(reference);
  return bound > 0 ? error / bound : infinity;
}

/// As above; `exact` requires equal bytes, of what is no NaN of Infinities::none_but_nan: 0 or
/// infinite.
inline double element_ratio(double out,
                            double reference,
                            bool same_bytes,
                            bool exact,
                            double atol,
                            double rtol,
                            Infinities infinities = Infinities::none) {
  const bool both_nan = infinities == Infinities::none_but_nan && is_nan(out) && is_nan(reference);
  if (exact) return same_bytes || both_nan ? 0 : double_of(0x7ff0000000000000ULL);
  return error_ratio(out, reference, atol, rtol, infinities);
}

}  // namespace portable
}  // namespace warpath
