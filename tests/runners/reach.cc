#include "runners/inputs/reach.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "engine/spec/spec_load.h"
#include "runners/inputs/input_family.h"

using namespace warpath;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Tensor tensor(const std::vector<double>& values, DType dtype = DType::f32) {
  Tensor out = make_tensor(dtype, {static_cast<std::int64_t>(values.size())});
  for (std::size_t i = 0; i < values.size(); ++i) out.set(static_cast<std::int64_t>(i), values[i]);
  return out;
}

const Tolerance kTolerance{.atol = 1e-6, .rtol = 1e-6, .norm = 1e-6};
const std::vector<double> kReference{1, 100, -2, 0.5};

/// Raises `distance` to how far `output` is from `reference`.
void raise(Distance& distance, const Tensor& output, const Tensor& reference) {
  const CompareUnder under = compare_under(output, reference, Infinities::none);
  extend(distance, under(kTolerance), kTolerance, under);
}

/// The verdict on kReference with `error` added to one element, where the baseline is off by
/// `reached` there.
Comparison verdict(double error, double reached, std::size_t at = 2) {
  const Tensor reference = tensor(kReference, DType::f64);
  auto with = [&](double by) {
    std::vector<double> values = kReference;
    values[at] += by;
    return tensor(values, DType::f64);
  };
  Reach reach;
  raise(reach.baseline, with(reached), reference);
  return compare_within(with(error), reference, kTolerance, reach, Infinities::none);
}

/// 4096 ones, of which so many, from the first, are off by `error`.
Tensor ones(int count, double error) {
  std::vector<double> values(4096, 1);
  for (int i = 0; i < count; ++i) values[static_cast<std::size_t>(i)] += error;
  return tensor(values, DType::f64);
}

}  // namespace

TEST_SUITE("reach") {
  TEST_CASE("what is within the tolerance passes whatever the baseline does") {
    CHECK(verdict(1e-7, 0).passed);
    CHECK(verdict(1e-7, 1).passed);
  }

  TEST_CASE(
      "beyond the tolerance an error passes if the baseline is off by a fraction of it, and not "
      "otherwise") {
    CHECK(verdict(1e-3, 1e-3 / (Reach{}.factor - 1)).passed);
    CHECK_FALSE(verdict(1e-3, 1e-3 / (Reach{}.factor + 2)).passed);
    CHECK_FALSE(verdict(1e-3, 0).passed);
  }

  TEST_CASE("what a reference kernel's own rounding may be off by is allowed once, not 32 times") {
    const Tensor reference = tensor(kReference, DType::f64);
    Reach reach;
    raise(reach.reference, tensor({1, 100, -2.001, 0.5}, DType::f64), reference);
    const auto passes = [&](double third) {
      const Tensor output = tensor({1, 100, third, 0.5}, DType::f64);
      return compare_within(output, reference, kTolerance, reach, Infinities::none).passed;
    };
    CHECK(passes(-2.0009));
    CHECK(passes(-1.9991));
    CHECK_FALSE(passes(-2.0021));
  }

  TEST_CASE(
      "a large error of one element in absolute terms does not excuse a relative one elsewhere") {
    // 100 is off by 1e-3, ten times its bound; 0.5 off by 1e-3 is off by 700 times its bound.
    const Tensor reference = tensor(kReference, DType::f64);
    Reach reach;
    raise(reach.baseline, tensor({1, 100.001, -2, 0.5}, DType::f64), reference);
    const Tensor output = tensor({1, 100, -2, 0.501}, DType::f64);
    CHECK(compare(output, reference, widened(kTolerance, reach)).bad_elements == 0);
    CHECK_FALSE(compare_within(output, reference, kTolerance, reach, Infinities::none).passed);
  }

  TEST_CASE("where the baseline is far off in a few elements, so may a kernel be, but in no more") {
    const Tensor reference = ones(0, 0);
    Reach reach;
    raise(reach.baseline, ones(4, 1), reference);
    CHECK(reach.baseline.usual_ratio == 1);
    const auto passes = [&](const Tensor& output) {
      return compare_within(output, reference, kTolerance, reach, Infinities::none).passed;
    };
    CHECK(passes(ones(128, 0.5)));
    CHECK_FALSE(passes(ones(129, 0.5)));
    // 32 times what the others are off by, which the tolerance bounds
    CHECK(passes(ones(4096, 31 * 2e-6)));
    CHECK_FALSE(passes(ones(4096, 40 * 2e-6)));
  }

  TEST_CASE("what nearly all elements are off by is known up to a factor of four") {
    const Tensor reference = ones(0, 0);
    Reach reach;
    raise(reach.baseline, ones(1, 1), reference);  // the norm is no limit here
    raise(reach.baseline, ones(5, 50 * 2e-6), reference);
    CHECK(reach.baseline.usual_ratio == 64);
    CHECK(compare_within(ones(4096, 1000 * 2e-6), reference, kTolerance, reach, Infinities::none)
              .passed);
    CHECK_FALSE(
        compare_within(ones(4096, 2100 * 2e-6), reference, kTolerance, reach, Infinities::none)
            .passed);
  }

  TEST_CASE("a wrong class is never within reach, and a baseline that has one tells nothing") {
    const Tensor reference = tensor({1, kNan}, DType::f64);
    const Comparison wrong = compare(tensor({1, 2}), reference, kTolerance);
    CHECK_FALSE(classes_agree(wrong));
    Reach reach;
    raise(reach.baseline, tensor({1, 2}), reference);
    CHECK(reach.baseline.ratio == 0);
    raise(reach.baseline, tensor({1.5, kNan}), reference);
    CHECK_FALSE(
        compare_within(tensor({1, 2}), reference, kTolerance, reach, Infinities::none).passed);
  }

  TEST_CASE("NaN and infinities agree only where inputs are infinite") {
    const Tensor reference = tensor({1, kInfinity}), output = tensor({1, kNan});
    CHECK_FALSE(compare(output, reference, kTolerance).passed);
    CHECK(compare(output, reference, kTolerance, Infinities::anywhere).passed);
    CHECK(compare(tensor({kNan}), tensor({-kInfinity}), kTolerance, Infinities::made).passed);
    CHECK(compare(tensor({1, kNan}), tensor({kNan, kInfinity}), kTolerance, Infinities::in_lines)
              .passed);
    CHECK_FALSE(compare(tensor({kNan}), tensor({1}), kTolerance, Infinities::in_lines).passed);
    CHECK_FALSE(compare(tensor({kNan}), tensor({1}), kTolerance, Infinities::made).passed);
    // parts of a sum near the end of the range, added in another order
    CHECK(
        compare(tensor({-kInfinity}), tensor({-1e38}), kTolerance, Infinities::overflowing).passed);
    CHECK(compare(tensor({1e38}), tensor({kInfinity}), kTolerance, Infinities::overflowing).passed);
    CHECK_FALSE(
        compare(tensor({kInfinity}), tensor({1e30}), kTolerance, Infinities::overflowing).passed);
    CHECK_FALSE(compare(tensor({kInfinity}), tensor({1e38}), kTolerance, Infinities::made).passed);
    CHECK_FALSE(compare(tensor({kNan}), tensor({kInfinity}), kTolerance).passed);
    CHECK_FALSE(compare(tensor({1, 5}), reference, kTolerance, Infinities::anywhere).passed);
    CHECK_FALSE(compare(tensor({kInfinity, kInfinity}), reference, kTolerance, Infinities::anywhere)
                    .passed);
    // a sum that was rescaled by exp(-inf - -inf)
    CHECK(compare(tensor({kNan, kNan}), reference, kTolerance, Infinities::anywhere).passed);
    CHECK_FALSE(compare(tensor({kNan, kNan}), reference, kTolerance).passed);
    // What multiplies by zero makes NaN of an infinity; what leaves such terms out does not.
    const Tensor times_zero = tensor({1, kNan});
    CHECK(compare(tensor({1, 0}), times_zero, kTolerance, Infinities::anywhere).passed);
    CHECK_FALSE(compare(tensor({1, 0}), times_zero, kTolerance, Infinities::beside_zeros).passed);
    CHECK(compare(tensor({1, 7}, DType::i32), tensor({1, 2}), kTolerance, Infinities::anywhere)
              .passed);
    CHECK_FALSE(compare(tensor({1, 7}, DType::i32), tensor({1, 2}), kTolerance).passed);
  }

  TEST_CASE("terms that cancel do not narrow the spec's tolerance, small inputs do") {
    const Tolerance own{.atol = 1e-3, .rtol = 1e-4, .norm = 1e-5};
    for (const InputFamily family :
         {InputFamily::one_value, InputFamily::opposed, InputFamily::sparse}) {
      CHECK(scaled(own, family, {.ratio = 0.01}).atol == own.atol);
      CHECK(scaled(own, family, {.ratio = 0.01}).norm == doctest::Approx(100 * own.norm));
    }
    for (const InputFamily family :
         {InputFamily::tiny, InputFamily::faint, InputFamily::cancellation}) {
      CHECK(scaled(own, family, {.ratio = 0.01}).atol == doctest::Approx(0.01 * own.atol));
      CHECK(scaled(own, family, {.ratio = 0.01}).norm == own.norm);
    }
    CHECK(scaled(own, InputFamily::huge, {.ratio = 1024}).atol == doctest::Approx(1024 * own.atol));
    const Tensor nothing = tensor({0, 0});
    const auto under = [&](double error) {
      return compare(tensor({0, error}), nothing, scaled(own, InputFamily::one_value, {.ratio = 0}))
          .passed;
    };
    CHECK(under(0.9e-3));
    CHECK_FALSE(under(1.1e-3));
  }

  TEST_CASE("where integers are factors a result may be off by the bound of one of declared size") {
    const Tolerance own{.atol = 1e-3, .rtol = 1e-4, .norm = 1e-5};
    const ResultSize size{.ratio = 0, .declared = 50};
    CHECK(scaled(own, InputFamily::one_value, size).atol == doctest::Approx(1e-3 + 50 * 1e-4));
    CHECK(scaled(own, InputFamily::tiny, size).atol < own.atol);
    const auto factors = [](const char* folder) {
      const KernelSpec spec =
          load_specs(WARPATH_SOURCE_ROOT "/tests/data/" + std::string(folder) + "/spec.json").at(0);
      return has_integer_factors(spec, spec.workloads.at(0));
    };
    CHECK(factors("integrity/zero_points"));
    CHECK_FALSE(factors("integrity/rownorm"));
    CHECK_FALSE(factors("integrity/masked_rows"));
    CHECK_FALSE(factors("integrity/take"));
  }

  TEST_CASE(
      "a sum of nudged terms moves by the rounding unit times the sum of their absolute values") {
    std::vector<double> terms;
    double magnitudes = 0;
    for (int i = 0; i < 1000; ++i) {
      terms.push_back((i % 2 == 0 ? 1 : -1) * (1 + 0.001 * i));
      magnitudes += std::fabs(terms.back());
    }
    const Tensor before = tensor(terms);
    Tensor after = before;
    nudge(after, 0);
    double moved = 0;
    for (std::int64_t i = 0; i < 1000; ++i) moved += after.at(i) - before.at(i);
    CHECK(moved == doctest::Approx(0x1p-23 * magnitudes).epsilon(0.3));
  }

  TEST_CASE(
      "errors that nudged 16-bit inputs cause count as much as nudged single precision would "
      "cause") {
    CHECK(nudge_share(DType::f32) == 1);
    CHECK(nudge_share(DType::f64) == 1);
    CHECK(nudge_share(DType::bf16) == 0x1p-16);
    CHECK(nudge_share(DType::f16) == 0x1p-13);
  }

  TEST_CASE(
      "a result of many terms may be further off, as far as half the square root of their number") {
    const auto factor = [](const char* file) {
      const KernelSpec spec = load_specs(std::string(WARPATH_SOURCE_ROOT) + file).at(0);
      return reach_factor(spec, spec.workloads.at(0));
    };
    CHECK(factor("/specs/softmax_scaled.json") == Reach{}.factor);
    CHECK(factor("/tests/data/honest/dot/spec.json") ==
          doctest::Approx(0.5 * std::sqrt(2 * 4000003.0)).epsilon(1e-3));
    // 65,536 elements a group, whose sums one thread makes
    CHECK(factor("/specs/groupnorm_silu.json") == doctest::Approx(128).epsilon(1e-3));
  }

  TEST_CASE("large arguments of exponentials excuse relative errors, large terms of a sum do not") {
    const KernelSpec softmax = load_specs(WARPATH_SOURCE_ROOT "/specs/softmax_scaled.json").at(0);
    const KernelSpec dot = load_specs(WARPATH_SOURCE_ROOT "/tests/data/honest/dot/spec.json").at(0);
    const auto relative = [](const KernelSpec& spec, const char* output, InputFamily family) {
      return tolerance_on(family, spec, output).rtol - spec.tolerance_of(output).rtol;
    };
    CHECK(relative(softmax, "o", InputFamily::rare_outliers) ==
          doctest::Approx(32 * 1024 * 0x1p-24));
    CHECK(relative(softmax, "o", InputFamily::offset) == doctest::Approx(32 * 10 * 0x1p-24));
    CHECK(relative(softmax, "o", InputFamily::tiny) == 0);
    CHECK(relative(dot, "out", InputFamily::rare_outliers) == 0);
  }

  TEST_CASE("the absolute tolerance of small inputs stays above zero") {
    CHECK(scaled(kTolerance, InputFamily::tiny, {.ratio = 0}).atol > 0);
    CHECK(scaled(kTolerance, InputFamily::tiny, {.ratio = 0}).rtol == kTolerance.rtol);
  }
}
