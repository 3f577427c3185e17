#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "engine/options.h"
#include "engine/runner.h"

namespace warpath::cuda {

/// Which gates run at which stage, by identifier ("d2": what stands before the first "_" of a name).
struct GatePlan {
  std::array<std::vector<std::string>, kStageNames.size()> stages;
  std::map<std::string, std::string, std::less<>> name_of;  ///< by identifier

  /// From cuda.screening, cuda.confirmation and cuda.final. Throws Error(bad_input) naming the option
  /// where an identifier is unknown or listed twice. `names`: of all gates.
  [[nodiscard]] static GatePlan from(const CudaOptions& options,
                                     const std::vector<std::string>& names);
  /// True if `id` runs at `stage` or an earlier one.
  [[nodiscard]] bool runs(const std::string& id, Stage stage) const;
  /// Adds a line to the verdict of an outcome at `stage` for every gate of the plan that has none: why it did not run.
  void list_unrun(Stage stage, Outcome& outcome) const;
};

/// "d2" of "d2_reference".
[[nodiscard]] std::string gate_identifier(std::string_view name);

}  // namespace warpath::cuda
