#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/spec/expression.h"
#include "experiments/init/index_bounds.h"
#include "experiments/init/thread_layout.h"
#include "experiments/project/kernel_signature.h"
#include "moves/model/facts.h"

namespace warpath {

/// What a spec says of one tensor.
struct DraftTensor {
  std::string role = "input";
  std::vector<std::string> shape;  ///< expressions, outermost first
  nlohmann::ordered_json init;     ///< null: none
  std::string indexes;             ///< the tensor whose first dimension its values index
  std::vector<std::pair<std::string, std::string>> guesses;  ///< pointer within the argument, why
};

/// Roles, shapes and contents of a kernel's tensors from its accesses.
class DraftTensors {
 public:
  /// `bytes`: of allocations in host code, by parameter.
  DraftTensors(const model::KernelFacts& facts,
               const std::vector<KernelParameter>& parameters,
               const ThreadLayout& layout,
               std::map<std::string, model::Polynomial> bytes);

  /// First: how far each tensor is indexed, over the kernel's integers and `sizes`.
  void find_extents();
  /// Then, once the integers have values: the largest extent of each tensor, and whether all its
  /// elements are written. Again where they have got other values.
  void settle(const Bindings& gpu, const Bindings& host);

  [[nodiscard]] const DraftTensor& of(const std::string& name) const { return drafts_.at(name); }
  /// Sizes that no parameter gives: how many rows an index tensor chooses from.
  [[nodiscard]] const std::vector<std::string>& sizes() const { return sizes_; }
  [[nodiscard]] std::set<std::string> names() const;            ///< in any extent
  [[nodiscard]] std::set<std::string> allocated_names() const;  ///< in what host code allocates
  /// Integers that are strides and nothing else, and the extent of what lies within them.
  [[nodiscard]] std::map<std::string, std::string> strides();
  [[nodiscard]] std::size_t rank() const;  ///< most of them in one product
  /// Integers that guards take away from others: WindowExtents::windows.
  [[nodiscard]] std::set<std::string> windows() const { return bounds_.windows().windows(); }
  [[nodiscard]] const std::set<std::int64_t>& multiples() const { return bounds_.multiples(); }
  /// True if a tensor has an element for each block or thread, so that their number is part of the
  /// contract.
  [[nodiscard]] bool by_block() const { return by_block_; }

 private:
  /// One access to a tensor and one more than its largest index.
  struct Reach {
    const model::Access* access = nullptr;
    model::Polynomial end;
  };
  struct Tensor {
    const KernelParameter* parameter = nullptr;
    int array = -1;  ///< of the facts; -1: never accessed
    bool followed = true;
    std::vector<Reach> reaches;
    std::string largest{};  ///< its extent where it is not followed
  };

  [[nodiscard]] static bool is_size(const KernelParameter& p);
  [[nodiscard]] bool of_sizes(const model::Polynomial& extent) const;
  [[nodiscard]] bool is_followed() const;
  [[nodiscard]] std::set<std::string> sizes_behind(const Tensor& tensor) const;
  [[nodiscard]] std::string all_sizes(const Tensor& tensor,
                                      const Bindings& gpu,
                                      const Bindings& host) const;
  [[nodiscard]] std::int64_t most_elements(const std::string& extent,
                                           const Bindings& numbers) const;
  void range_of(const std::string& array);
  [[nodiscard]] std::optional<model::Polynomial> row_counted_by(const std::string& array) const;
  [[nodiscard]] std::optional<model::Polynomial> known_range(const std::string& array);
  [[nodiscard]] std::string target_of(const std::string& array) const;
  void give_range(const std::string& array, const model::Polynomial& range);
  void shape(Tensor& tensor, DraftTensor& draft, const Bindings& gpu, const Bindings& host);
  void role(const Tensor& tensor, DraftTensor& draft, const Bindings& host) const;
  void content(const Tensor& tensor, DraftTensor& draft, std::size_t number) const;
  [[nodiscard]] std::int64_t value(const std::string& expression, const Bindings& numbers) const;
  [[nodiscard]] Tensor* find(const std::string& name);

  const model::KernelFacts& facts_;
  const std::vector<KernelParameter>& parameters_;
  const ThreadLayout& layout_;
  std::map<std::string, model::Polynomial> bytes_;
  IndexBounds bounds_;
  std::vector<Tensor> tensors_;
  std::map<std::string, model::Polynomial> ranges_;  // one more than the largest value, by array
  std::vector<std::string> sizes_;
  std::size_t unused_ = 0;  // of ThreadLayout::unused, how many stand for a range
  std::map<std::string, DraftTensor> drafts_;
  bool by_block_ = false;
};

}  // namespace warpath
