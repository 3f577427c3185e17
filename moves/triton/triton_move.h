#pragma once

#include <string>
#include <vector>

#include "moves/edit/kernel_move.h"
#include "moves/triton/triton_kernel.h"

namespace warpath {

/// A move on the text of a kernel in Triton, with parameters at all its sites: silent on kernels in
/// other languages, and on texts that are not read.
class TritonMove : public ParameterMove {
 public:
  [[nodiscard]] bool reads_source() const final { return false; }
  /// The candidates that apply.
  [[nodiscard]] std::vector<MoveInstance> enumerate(const MoveContext& context) const final;
  [[nodiscard]] std::vector<Tunable> domain(const MoveContext& context,
                                            std::string_view site) const final;

 private:
  [[nodiscard]] std::optional<Variant> applied(const MoveContext& context,
                                               const MoveInstance& wanted,
                                               std::string& why) const final;
  /// As Move::domain.
  [[nodiscard]] virtual std::vector<Tunable> parameters(std::string_view site) const = 0;
  /// What may apply, in the order of enumerate().
  [[nodiscard]] virtual std::vector<MoveInstance> candidates(const MoveContext& context,
                                                             const TritonKernel& kernel) const = 0;
  /// Edits of the source; none, with one line in `why`, where the move does not apply.
  [[nodiscard]] virtual std::vector<Edit> edits(const MoveContext& context,
                                                const TritonKernel& kernel,
                                                const MoveInstance& wanted,
                                                std::string& why) const = 0;
};

/// Why no move reads the kernel of this spec; empty if it is in Triton.
[[nodiscard]] std::string not_triton(const KernelSpec& spec);

}  // namespace warpath
