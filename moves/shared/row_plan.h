#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/plugin/move.h"
#include "moves/model/facts.h"
#include "moves/shared/row_scan.h"

namespace warpath {

/// Accumulators that are whole again behind `stmt`, the outermost loop that only adds to them.
struct RowCombine {
  const model::Stmt* stmt = nullptr;
  std::vector<const model::Reduction*> reductions;
};

/// How several lanes can do what one thread did for its item. Points into the kernel's model.
struct RowPlan {
  const model::ThreadIndex* index = nullptr;
  model::Polynomial factor;                 ///< threads a block, as the source says it
  std::vector<const model::Expr*> indices;  ///< expressions that are the thread's index
  std::vector<const model::Expr*> strides;  ///< expressions that count all threads
  std::vector<const model::Loop*> splits;   ///< loops that the lanes share
  std::vector<RowCombine> combines;
  std::vector<const model::Stmt*> single;    ///< stores that one lane does
  std::vector<const model::Stmt*> barriers;  ///< lanes wait for each other before them
};

/// nullopt with one line in `why` if the threads of the kernel do not each do an item by x index,
/// or no loop can be shared: a scan loop if `scan` is given; null: scans are refused.
[[nodiscard]] std::optional<RowPlan> plan_rows(const MoveContext& context,
                                               const model::KernelModel& model,
                                               const ScanShape* scan,
                                               std::string& why);

}  // namespace warpath
