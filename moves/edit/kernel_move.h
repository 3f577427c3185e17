#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "engine/plugin/move.h"
#include "moves/model/facts.h"
#include "moves/model/kernel_model.h"

namespace warpath {

/// A move that has parameters at all its sites: apply() refuses what is not in its domain
/// (Move::domain), with one line.
class ParameterMove : public Move {
 public:
  [[nodiscard]] std::optional<Variant> apply(const MoveContext& context,
                                             const MoveInstance& wanted,
                                             std::string& why) const final;

 protected:
  [[nodiscard]] bool in_domain(const MoveContext& context,
                               const MoveInstance& wanted,
                               std::string& why) const;

 private:
  /// As apply(); the parameters are in the domain of `wanted.site`.
  [[nodiscard]] virtual std::optional<Variant> applied(const MoveContext& context,
                                                       const MoveInstance& wanted,
                                                       std::string& why) const = 0;
};

/// One that works on the model of a kernel, and whose candidates are few enough to be tried.
class KernelMove : public ParameterMove {
 public:
  /// The candidates that apply.
  [[nodiscard]] std::vector<MoveInstance> enumerate(const MoveContext& context) const final;

 protected:
  /// Appends one candidate a value.
  void add(std::vector<MoveInstance>& candidates,
           const std::string& site,
           const std::string& parameter,
           std::initializer_list<std::int64_t> values) const;

 private:
  [[nodiscard]] std::optional<Variant> applied(const MoveContext& context,
                                               const MoveInstance& wanted,
                                               std::string& why) const final;
  /// What may apply, in the order of enumerate(); what is not in the domain is left out.
  [[nodiscard]] virtual std::vector<MoveInstance> candidates(
      const MoveContext& context, const model::KernelModel& model) const = 0;
  /// As applied().
  [[nodiscard]] virtual std::optional<Variant> rewritten(const MoveContext& context,
                                                         const model::KernelModel& model,
                                                         const MoveInstance& wanted,
                                                         std::string& why) const = 0;
};

}  // namespace warpath
