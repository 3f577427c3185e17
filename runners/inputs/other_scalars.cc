#include "runners/inputs/other_scalars.h"

#include <regex>
#include <string_view>

namespace warpath {
namespace {

/// The text converts to integers, perhaps of floating-point numbers: `(int)x`, `int(x)`,
/// `static_cast<int>(x)`, `__float2int_rd(x)`, `lrintf(x)`, floorf(x) that a declaration converts.
/// Indices of threads and blocks are integers already, and what becomes one of 64 bits mostly is.
bool makes_integers(std::string_view source) {
  static const std::regex kConversion(
      "\\( *(int|unsigned|unsigned int|u?int32_t) *\\)(?! *\\(?(block|thread|grid))|"
      "\\b(int|unsigned|u?int32_t) *\\( *[^ )]|"
      "static_cast *< *(unsigned|int|u?int32_t)|"
      "\\b(__(float|double|half)2u?(int|ll)|ll?(rint|round)|floor|ceil|trunc)");
  return std::regex_search(source.begin(), source.end(), kConversion);
}

}  // namespace

std::optional<ScalarValue> scalar_on(InputFamily family,
                                     const KernelSpec& spec,
                                     const ArgSpec& arg,
                                     const Workload& workload) {
  std::optional<ScalarValue> value = scalar_value(arg, workload);
  double* const real = value ? std::get_if<double>(&*value) : nullptr;
  constexpr double kShare = 0.75;
  if (family == InputFamily::other_scalars && real != nullptr && !arg.is_meta &&
      arg.type == ArgType::floating && !makes_integers(spec.source))
    *real *= kShare;
  return value;
}

}  // namespace warpath
