#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "moves/model/facts.h"

namespace warpath {

/// By the name of a local what it is set to where it is declared; null where several have the name.
using DeclaredValues = std::map<std::string, const model::Expr*>;

[[nodiscard]] DeclaredValues declared_values(const model::KernelFacts& facts);

/// A quotient that is computed in floating point and rounded, `(int)floorf((float)a / b)`, as that
/// of integers; nullopt for other values that the model does not follow.
[[nodiscard]] std::optional<model::Polynomial> rounded_value(const model::KernelFacts& facts,
                                                             const model::Expr& expr);

/// The sizes that an index is computed from, over locals, bounds of loops, and what `assumed` (each
/// >= 0) and guards say of the blocks in it; nullopt if a value in it is none that one declaration
/// gives.
[[nodiscard]] std::optional<std::set<std::string>> sizes_behind_index(
    const model::KernelFacts& facts,
    const DeclaredValues& values,
    const std::vector<model::Polynomial>& assumed,
    const model::Access& access);

/// True if a parameter points elsewhere in each iteration: `x += i * C; x[j]`. Such a loop over the
/// grid's points is right for the first point of a thread alone.
[[nodiscard]] bool moves_a_pointer(const model::KernelFacts& facts, const model::Loop& loop);

/// threadIdx or blockIdx along an axis.
[[nodiscard]] bool is_thread(const std::string& name);
/// blockDim or gridDim along an axis.
[[nodiscard]] bool is_launch_extent(const std::string& name);

}  // namespace warpath
