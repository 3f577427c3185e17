#include "runners/inputs/other_scalars.h"

#include <algorithm>

#include "runners/inputs/made_integers.h"

namespace warpath {
namespace {

/// The kernel receives `arg`, a floating-point number, and its text makes no places of such
/// numbers.
bool is_free(const KernelSpec& spec, const ArgSpec& arg, const Workload& workload) {
  if (arg.is_meta || arg.type != ArgType::floating || makes_integers(spec.source)) return false;
  const std::optional<ScalarValue> value = scalar_value(arg, workload);
  const double* const real = value ? std::get_if<double>(&*value) : nullptr;
  return real != nullptr;
}

}  // namespace

std::optional<ScalarValue> scalar_on(const FamilyChoice& choice,
                                     const KernelSpec& spec,
                                     const ArgSpec& arg,
                                     const Workload& workload) {
  std::optional<ScalarValue> value = scalar_value(arg, workload);
  if (choice.family != InputFamily::other_scalars || !is_free(spec, arg, workload)) return value;
  int number = 0;  // from 1
  for (const ArgSpec& other : spec.io.args) {
    number += is_free(spec, other, workload) ? 1 : 0;
    if (other.name == arg.name) break;
  }
  constexpr double kShare = 0.75, kForZero = 0.5;
  if (choice.form == 0 || choice.form == number) {
    double& x = std::get<double>(*value);
    x = x == 0 ? kForZero : x * kShare;
  }
  return value;
}

int free_scalars(const KernelSpec& spec, const Workload& workload) {
  return static_cast<int>(std::ranges::count_if(
      spec.io.args, [&](const ArgSpec& arg) { return is_free(spec, arg, workload); }));
}

}  // namespace warpath
