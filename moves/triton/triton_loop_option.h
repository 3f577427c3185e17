#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "moves/triton/triton_move.h"

namespace warpath {

/// A move that sets a number which tl.range() takes for a loop: range(...) becomes
/// tl.range(..., keyword=value). 0: the compiler decides. Sites "loop:K" count the loops over
/// range() and tl.range() in the order of the text.
class TritonLoopOption : public TritonMove {
 public:
  [[nodiscard]] std::optional<MoveInstance> inverse(const MoveContext& context,
                                                    const MoveInstance& done) const final;

 protected:
  /// `first`: the values to list, best guess first; `domain`: ascending, with 0. Both outlive it.
  TritonLoopOption(std::string_view keyword,
                   std::vector<std::int64_t> first,
                   std::vector<std::int64_t> domain,
                   std::string help);

 private:
  [[nodiscard]] std::vector<Tunable> parameters(std::string_view site) const final;
  [[nodiscard]] std::vector<MoveInstance> candidates(const MoveContext& context,
                                                     const TritonKernel& kernel) const final;
  [[nodiscard]] std::vector<Edit> edits(const MoveContext& context,
                                        const TritonKernel& kernel,
                                        const MoveInstance& wanted,
                                        std::string& why) const final;
  /// Why the loop (a statement) is left alone, in one line; empty: it is not.
  [[nodiscard]] virtual std::string refusal(const MoveContext& context,
                                            const TritonKernel& kernel,
                                            std::size_t loop) const = 0;

  const std::string_view keyword_;
  const std::vector<std::int64_t> first_, domain_;
  const std::string help_;
};

/// Why the body of a loop is not looked through: a line that is not read, another loop in it;
/// empty: it is.
[[nodiscard]] std::string not_innermost(const TritonKernel& kernel, std::size_t loop);

}  // namespace warpath
