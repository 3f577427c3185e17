#pragma once

#include <optional>
#include <string>
#include <vector>

#include "moves/model/facts.h"

namespace warpath {

/// `target = keep * target + a * b` in any spelling; `b` is null for a single summand.
struct Update {
  const model::Expr* target = nullptr;
  const model::Expr* keep = nullptr;  ///< null: 1
  const model::Expr* a = nullptr;
  const model::Expr* b = nullptr;
};

/// Recognises such an update; nullopt otherwise.
[[nodiscard]] std::optional<Update> read_update(const model::Unit& unit, const model::Stmt& stmt);

/// True for a literal 0 under any casts.
[[nodiscard]] bool is_zero(const model::Expr& e);

/// The parts of a loop that sums values weighted by scores: weight = exp(f(score)), sum += weight,
/// acc[:] += weight * value.
struct WeightedSum {
  const model::Loop* loop = nullptr;              ///< over the summands
  std::string score, weight;                      ///< variables
  std::vector<const model::Declarator*> defined;  ///< in the loop, with their values
  std::vector<const model::Expr*> score_factors;  ///< score *= ...
  std::vector<const model::Expr*> handovers;      ///< x = y in the loop
  const model::Expr* sum = nullptr;               ///< of the weights
  /// factor applied to the sum before each summand; null: 1
  const model::Expr* sum_keep = nullptr;
  const model::Expr* sum_weight = nullptr;  ///< summand of the sum
  const model::Expr* acc = nullptr;         ///< acc[d]
  const model::Expr* acc_keep = nullptr;
};

/// True if weight = exp(scale * score - top), where top is the same for all summands, or changes
/// and the sums are rescaled accordingly: then acc / sum does not depend on top. Sets `scale` to C
/// text, or `why` to one line.
[[nodiscard]] bool read_weight(const model::Unit& unit,
                               const model::KernelFacts& facts,
                               const WeightedSum& parts,
                               std::string& scale,
                               std::string& why);

}  // namespace warpath
