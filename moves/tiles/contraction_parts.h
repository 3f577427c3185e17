#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "moves/model/facts.h"
#include "moves/model/kernel_model.h"
#include "moves/tiles/contraction.h"

namespace warpath {

/// Identifiers in C text, except members.
[[nodiscard]] std::set<std::string> names_in(std::string_view text);
/// True if blockIdx.x, .y or .z (axis 0, 1, 2) occurs.
[[nodiscard]] bool mentions_block_index(std::string_view text, std::size_t axis);

/// A condition on the kernel's work.
struct Condition {
  const model::Expr* expr = nullptr;
  bool negated = false;
};

/// name < text.
struct UpperBound {
  std::string name;
  std::string text;
  /// over names of the launch plan; empty if impossible
  std::string launch_text;
  std::optional<std::int64_t> size;
  model::Polynomial value;
};

struct AxisPart {
  ContractionAxis axis;
  std::vector<std::size_t> launch_axes;  ///< that its value is made of
  model::Polynomial extent = model::Polynomial::unknown();
};

struct FactorPart {
  ContractionOperand operand;
  model::Polynomial index;  ///< over the axes, k and sizes
  int array = 0;
};

/// A kernel split at its reduction loop: what precedes it, what holds there, what follows. Helper
/// of find_contraction; borrows the model.
class ContractionParts {
 public:
  ContractionParts(const MoveContext& context, const model::KernelModel& kernel);

  /// Finds the statements before and after `loop` and the conditions around it.
  [[nodiscard]] bool split(const model::Stmt& loop, std::string& why);
  [[nodiscard]] const std::vector<Condition>& conditions() const { return conditions_; }
  /// Variables computed from block and thread indices that enumerate outputs.
  [[nodiscard]] std::vector<AxisPart> axes();
  [[nodiscard]] std::optional<UpperBound> upper_bound(const Condition& condition) const;
  /// True if axes already imply it: i < M * N if the axes are i / N and i % N.
  [[nodiscard]] bool is_used_up(const Condition& condition) const;
  /// True if it only says that an index is not negative.
  [[nodiscard]] bool lower_bound_only(const Condition& condition,
                                      const std::vector<AxisPart>& axes) const;
  [[nodiscard]] std::string text(const Condition& condition) const;
  /// Value of a polynomial after substituting the source's constants.
  [[nodiscard]] std::optional<std::int64_t> fixed(const model::Polynomial& value) const;
  /// Substitutes the definitions of the prologue's locals, down to the axes.
  [[nodiscard]] model::Polynomial expanded(model::Polynomial value) const;
  /// True if the text mentions the name, directly or through definitions.
  [[nodiscard]] bool depends(std::string_view text, std::string_view name) const;
  /// True for the one index that both axes are computed from.
  [[nodiscard]] bool is_flat_index(std::string_view name) const {
    return !flat_index_.empty() && name == flat_index_;
  }
  /// True if it depends on an axis or a thread index.
  [[nodiscard]] bool on_threads(std::string_view text) const;
  /// Recognises the search for a ragged group. False only if there is one that is not understood.
  [[nodiscard]] bool find_groups(const std::vector<AxisPart>& axes, std::string& why);
  [[nodiscard]] const std::optional<ContractionGroups>& found_groups() const { return groups_; }
  [[nodiscard]] const std::string& group_axis() const { return group_axis_; }
  [[nodiscard]] std::optional<FactorPart> factor(const model::Expr& expr,
                                                 const model::Loop& loop,
                                                 std::string& why) const;
  /// Sets strides, contiguity and vector width.
  [[nodiscard]] bool strides(ContractionOperand& operand,
                             const FactorPart& factor,
                             const model::Loop& loop,
                             const AxisPart& axis,
                             std::string& why) const;
  [[nodiscard]] bool prologue(Contraction& out,
                              const std::vector<AxisPart>& axes,
                              const model::Reduction& reduction,
                              std::string& why);
  [[nodiscard]] const std::vector<std::string>& dropped() const { return dropped_; }
  /// True for `k++;` and the like.
  [[nodiscard]] bool only_steps(const model::Stmt& stmt, std::string_view name) const;
  [[nodiscard]] std::string block_index_name(std::size_t axis) const;
  [[nodiscard]] std::vector<const model::Access*> stores() const;
  [[nodiscard]] std::string epilogue_text() const;
  /// Sets output_* if the epilogue is a single store after declarations.
  void read_store(Contraction& out, const std::vector<AxisPart>& axes) const;

 private:
  /// A name of the prologue.
  struct Definition {
    std::vector<std::string> defines;
    std::string text;
    const model::Stmt* stmt = nullptr;
    const model::Declarator* declarator = nullptr;
  };
  void add_definitions(const model::Stmt& stmt);
  /// Sets where the sum starts, from the statements that set or change the accumulator before the
  /// loop, in order.
  [[nodiscard]] bool read_start(Contraction& out,
                                const std::vector<const Definition*>& starts,
                                const model::Reduction& reduction,
                                std::string& why) const;
  [[nodiscard]] const Definition* definition(std::string_view name) const;
  [[nodiscard]] std::optional<std::string> launch_text(std::string_view text) const;
  [[nodiscard]] std::string launch_extent_of(std::size_t axis) const;
  [[nodiscard]] std::optional<AxisPart> direct_axis(const Definition& d) const;
  [[nodiscard]] std::vector<AxisPart> divided_axes();
  /// True if no variable occurs outside the load.
  [[nodiscard]] static bool mentions_only_load(const model::Expr& e, const model::Access& load);
  [[nodiscard]] int widest_vector(int array,
                                  const model::Polynomial& rest,
                                  const model::Polynomial& extent) const;
  [[nodiscard]] model::Polynomial with_constants(const model::Polynomial& value) const;

  const MoveContext& context_;
  const model::Unit& unit_;
  const model::Function& kernel_;
  const model::KernelFacts& facts_;
  const model::Stmt* loop_ = nullptr;
  const model::Stmt* inner_ = nullptr;  ///< block that holds the loop
  std::vector<const model::Stmt*> after_;
  std::vector<Condition> conditions_;
  std::vector<Definition> definitions_;  ///< in order
  std::set<std::string> axis_names_;
  std::string flat_index_;        ///< i of i / N, i % N
  model::Polynomial flat_value_;  ///< the same in terms of the axes
  /// its exclusive end, by which the extent of i / N follows
  model::Polynomial flat_total_ = model::Polynomial::unknown();
  std::vector<std::string> dropped_;
  std::optional<ContractionGroups> groups_;
  std::string group_axis_;
  Bindings constants_;
};

}  // namespace warpath
