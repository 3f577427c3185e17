#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "engine/spec/spec.h"
#include "engine/spec/tensor.h"
#include "runners/inputs/input_choices.h"

namespace warpath {

/// How many columns there are in `arg`, a tensor of column indices (csr_column_indices) of the rows
/// that the tensor of this name begins and ends; nullopt if it is none. Throws Error(bad_input) if
/// the expression cannot be evaluated.
[[nodiscard]] std::optional<std::int64_t> number_of_columns(const KernelSpec& spec,
                                                            const ArgSpec& arg,
                                                            const Workload& workload,
                                                            std::string_view row_pointers);

/// The column indices, by argument, of the rows that `choice` arranges in another way
/// (Arrangement::offsets): those that their rule gives for such rows. Empty where it arranges none.
[[nodiscard]] std::map<std::string, Tensor, std::less<>> columns_of_arranged_rows(
    const KernelSpec& spec,
    const Workload& workload,
    const FamilyChoice& choice,
    std::uint64_t seed);

}  // namespace warpath
