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
/// "blockIdx.y".
[[nodiscard]] std::string axis_name(std::string_view base, std::size_t axis);

/// A condition on the kernel's work.
struct Condition {
  const model::Expr* expr = nullptr;
  bool negated = false;
};

/// i of i / N and i % N, the one index that both axes are computed from.
struct FlatIndex {
  std::string name;
  model::Polynomial value;  ///< in terms of the axes
  /// its exclusive end, by which the extent of i / N follows
  model::Polynomial total = model::Polynomial::unknown();
};

/// A kernel split at its reduction loop: what precedes it, what holds there, what follows. What
/// contraction_axes.h, _groups.h, _factors.h and _ends.h read the parts of a contraction from;
/// borrows the model.
class ContractionParts {
 public:
  /// A name of the prologue.
  struct Definition {
    std::vector<std::string> defines;
    std::string text;
    const model::Stmt* stmt = nullptr;
    const model::Declarator* declarator = nullptr;
    /// It defines this name alone.
    [[nodiscard]] bool is(std::string_view name) const {
      return defines.size() == 1 && defines[0] == name;
    }
  };

  ContractionParts(const MoveContext& context, const model::KernelModel& kernel);

  /// Finds the statements before and after `loop` and the conditions around it.
  [[nodiscard]] bool split(const model::Stmt& loop, std::string& why);
  /// From then on depends() and expanded() end at the axes.
  void set_axes(std::set<std::string> names, FlatIndex flat);
  /// `name` is the group of a row: depends() and expanded() end there, and its search is no part of
  /// the prologue.
  void set_group(std::string name);

  [[nodiscard]] const MoveContext& context() const { return context_; }
  [[nodiscard]] const model::Unit& unit() const { return unit_; }
  [[nodiscard]] const model::Function& kernel() const { return kernel_; }
  [[nodiscard]] const model::KernelFacts& facts() const { return facts_; }
  [[nodiscard]] const std::vector<Condition>& conditions() const { return conditions_; }
  [[nodiscard]] const std::vector<Definition>& definitions() const { return definitions_; }
  [[nodiscard]] const Definition* definition(std::string_view name) const;
  [[nodiscard]] const std::vector<const model::Stmt*>& after() const { return after_; }
  /// Writes to memory after the loop.
  [[nodiscard]] std::vector<const model::Access*> stores() const;
  [[nodiscard]] bool is_axis(const std::string& name) const { return axis_names_.contains(name); }
  /// Without a name: there is none.
  [[nodiscard]] const FlatIndex& flat() const { return flat_; }
  [[nodiscard]] bool is_flat_index(std::string_view name) const {
    return !flat_.name.empty() && name == flat_.name;
  }

  [[nodiscard]] std::string text(const Condition& condition) const;
  /// `text` over names of the launch plan; nullopt if impossible.
  [[nodiscard]] std::optional<std::string> launch_text(std::string_view text) const;
  [[nodiscard]] model::Polynomial with_constants(const model::Polynomial& value) const;
  /// Value of a polynomial after substituting the source's constants.
  [[nodiscard]] std::optional<std::int64_t> fixed(const model::Polynomial& value) const;
  /// Substitutes the definitions of the prologue's locals, down to the axes.
  [[nodiscard]] model::Polynomial expanded(model::Polynomial value) const;
  /// True if the text mentions the name, directly or through definitions.
  [[nodiscard]] bool depends(std::string_view text, std::string_view name) const;
  /// True if it depends on an axis or a thread index.
  [[nodiscard]] bool on_threads(std::string_view text) const;
  [[nodiscard]] std::string block_index_name(std::size_t axis) const;

 private:
  void add_definitions(const model::Stmt& stmt);

  const MoveContext& context_;
  const model::Unit& unit_;
  const model::Function& kernel_;
  const model::KernelFacts& facts_;
  std::vector<const model::Stmt*> after_;
  std::vector<Condition> conditions_;
  std::vector<Definition> definitions_;  ///< in order
  std::set<std::string> axis_names_;
  FlatIndex flat_;
  std::string group_;
  Bindings constants_;
};

/// True for `k++;` and the like.
[[nodiscard]] bool only_steps(const model::Unit& unit,
                              const model::Stmt& stmt,
                              std::string_view name);

}  // namespace warpath
