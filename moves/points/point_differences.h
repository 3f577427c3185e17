#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "moves/model/facts.h"
#include "moves/model/kernel_model.h"
#include "moves/syntax/syntax_query.h"

namespace warpath {

/// What differs among the points that a thread makes side by side, and which statements all of them
/// run alike.
class PointDifferences {
 public:
  using Names = std::set<std::string, std::less<>>;

  explicit PointDifferences(const model::KernelModel& kernel)
      : kernel_(kernel), facts_(kernel.facts) {}

  /// Of the statements of a point, in order; `index` is what tells the points apart.
  void find(const std::vector<const model::Stmt*>& list, const std::string& index);

  /// Locals that differ among the points of a thread.
  [[nodiscard]] const Names& names() const { return names_; }
  template <class Node>
  [[nodiscard]] bool varies(const Node& node) const {
    return std::ranges::any_of(
        names_, [&](const std::string& name) { return model::mentions(node, name); });
  }
  /// Memory that other threads see is written.
  [[nodiscard]] bool writes_memory(const model::Stmt& s) const;
  /// A loop that runs alike for all points and does something for each. `masked`: some points would
  /// not come to it, and it must do them no harm.
  [[nodiscard]] bool is_container(const model::Stmt& s, bool masked) const;
  /// A condition around such a loop: it is tested for all points at once, or once for each, and the
  /// loop runs for all of them together.
  [[nodiscard]] bool is_split(const model::Stmt& s, bool masked) const;
  /// It does the same for all points, and is done once. `masked` as above.
  [[nodiscard]] bool is_shared(const model::Stmt& s, bool masked) const;
  /// Why it is not known what differs: a variable has other names, or its address is kept. Empty if
  /// nothing prevents it.
  [[nodiscard]] std::string veto() const;
  /// How many variables the kernel may mean by a name: its own, its parameters, the file's.
  [[nodiscard]] std::size_t declarations(std::string_view name) const;

 private:
  void mark(const model::Stmt& s, bool masked);
  /// The variables from outside that the statement changes.
  void mark_written(const model::Stmt& s);

  const model::KernelModel& kernel_;
  const model::KernelFacts& facts_;
  Names names_;
};

}  // namespace warpath
