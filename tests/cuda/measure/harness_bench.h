#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/spec/compare.h"
#include "engine/spec/spec.h"
#include "engine/spec/tensor.h"

/// What the tests of the harness's kernels share, on the host and on a device.
namespace harness_test {

/// A rule of every kind that device code fills, with its name.
[[nodiscard]] std::vector<std::pair<warpath::InitRule, std::string>> rules();
[[nodiscard]] const std::vector<std::vector<std::int64_t>>& shapes();

/// Values of every class and rounding: normals of several magnitudes, zeros, NaN, infinity.
[[nodiscard]] warpath::Tensor special_values(warpath::DType dtype,
                                             std::int64_t elements,
                                             std::uint64_t seed);

/// `reference` as `dtype`, with errors of all sizes.
[[nodiscard]] warpath::Tensor with_errors(const warpath::Tensor& reference,
                                          warpath::DType dtype,
                                          std::uint64_t seed);

/// Checks for the same verdict and figures; sums may have been added up in another order.
void check_equal(const warpath::Comparison& device, const warpath::Comparison& host);

}  // namespace harness_test
