#pragma once

#include <optional>
#include <string>

#include "engine/plugin/move.h"
#include "moves/model/kernel_model.h"

namespace warpath {

/// The number of blocks of a kernel whose blocks each have a row, in the kernel.
struct RowCount {
  std::optional<std::string> text;           ///< a number or a name; nullopt: it has none there
  const model::Stmt* declaration = nullptr;  ///< of the name, in the kernel's body
  /// Threads of a block of the kernel with a row a thread; whole blocks where the rows end nowhere.
  [[nodiscard]] std::string block() const;
};
[[nodiscard]] RowCount row_count(const MoveContext& context, const model::KernelModel& model);

/// The launch with a row a thread. False with one line in `why` if it cannot be written.
[[nodiscard]] bool set_thread_rows(LaunchPlan& plan, const RowCount& rows, std::string& why);

/// "row = .." and, where the rows end, a return; lines.
[[nodiscard]] std::string row_index(const std::string& row, const RowCount& rows, bool wide);

}  // namespace warpath
