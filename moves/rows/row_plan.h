#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/plugin/move.h"
#include "moves/model/facts.h"
#include "moves/model/kernel_model.h"
#include "moves/rows/row_scan.h"

namespace warpath {

/// Accumulators that are complete after `stmt`, the outermost loop that only adds to them; and what
/// keeps extrema, behind the loop itself.
struct RowCombine {
  const model::Stmt* stmt = nullptr;
  std::vector<const model::Reduction*> reductions;
  std::vector<const model::Extremum*> extrema;
};

/// How several lanes can share the work of one thread's item. Points into the kernel's model.
struct RowPlan {
  const model::ThreadIndex* index = nullptr;
  model::Polynomial factor;                 ///< threads per block as text of the source
  std::vector<const model::Expr*> indices;  ///< expressions equal to the thread's index
  std::vector<const model::Expr*> strides;  ///< expressions equal to the number of threads
  std::vector<const model::Loop*> splits;   ///< loops shared by the lanes
  std::vector<RowCombine> combines;
  std::vector<const model::Stmt*> single;    ///< stores done by one lane
  std::vector<const model::Stmt*> barriers;  ///< statements preceded by a barrier of the lanes
};

/// nullopt with one line in `why` if the threads of the kernel do not each process an item by x
/// index, or no loop can be shared: a scan loop if `scan` is given; null: scans are refused.
[[nodiscard]] std::optional<RowPlan> plan_rows(const MoveContext& context,
                                               const model::KernelModel& model,
                                               const ScanShape* scan,
                                               std::string& why);

}  // namespace warpath
