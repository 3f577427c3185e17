#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/spec/spec.h"
#include "engine/spec/variant.h"
#include "tests/support/temporary_folder.h"

namespace warpath::test {

/// What a launch left.
struct InterpretedLaunch {
  std::string end;      ///< what ended it early; empty: nothing did
  std::string written;  ///< hash of all memory after it
  double error = 0;     ///< against the reference, in units of the spec's tolerance
};

/// Launches of kernels in Triton on the CPU, by Triton's interpreter. Shows what texts compute and
/// which memory they touch: every load and store must be of a tensor. It carries out programs one
/// after the other, and takes no notice of hints, stages and unrolling. References are those of
/// tests/data/triton/references.py, by the kernel's name; a kernel without one has no error.
class TritonInterpreter {
 public:
  /// Why there is none; empty if there is.
  [[nodiscard]] static std::string problem();

  /// The launch of `variant` on the inputs of a workload: its position in run(). Equal launches
  /// have one.
  std::size_t add(const KernelSpec& spec, const Workload& workload, const Variant& variant);
  /// Carries all out, in one process. Throws Error(environment) if that ends early.
  [[nodiscard]] std::vector<InterpretedLaunch> run() const;

 private:
  std::size_t add_inputs(const KernelSpec& spec, const Workload& workload);

  TemporaryFolder folder_;
  nlohmann::json inputs_ = nlohmann::json::array(), launches_ = nlohmann::json::array();
  std::map<std::string, std::size_t> known_inputs_, known_launches_;
};

}  // namespace warpath::test
