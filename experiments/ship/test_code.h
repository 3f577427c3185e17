#pragma once

#include <string>
#include <utility>
#include <vector>

#include "experiments/ship/shipment.h"

namespace warpath {

/// The workloads of an exported test program.
struct TestCode {
  std::string text;  ///< WORKLOADS of templates/test.cc.in
  /// contents that no rule gives element by element: name within the folder, bytes
  std::vector<std::pair<std::string, std::string>> files;
  std::vector<std::string> left_out;  ///< "WORKLOAD: why"
};

/// Limit on the contents written for one export, in bytes.
inline constexpr std::size_t kMostTestData = std::size_t{64} << 20U;

/// Every workload of the run's device whose inputs fit. Throws Error(bad_input) if an expression of
/// the spec cannot be evaluated.
[[nodiscard]] TestCode test_code(const Shipment& shipment);

}  // namespace warpath
