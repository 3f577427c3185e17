#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "experiments/project/kernel_signature.h"
#include "moves/model/facts.h"

namespace warpath {

/// The kernel's text with helpers and macros written out, where the model knows how.
[[nodiscard]] std::string normal_text(const std::string& source,
                                      const std::string& kernel,
                                      const std::string& instance,
                                      const std::vector<KernelParameter>& parameters);

/// True if an element that is read becomes an integer by itself: `int label = labels[i]`, and
/// `(int)labels[i]`.
[[nodiscard]] bool becomes_integer(const model::Unit& unit, const model::Access& access);

/// The unit's text with `int` for the elements of floating-point parameters of which the kernel
/// only makes integers: such as an index that the model then follows. For analysis alone.
[[nodiscard]] std::string with_integer_contents(const model::KernelFacts& facts);

/// True if a guard on the size keeps threads of a block from a barrier that others wait at.
[[nodiscard]] bool keeps_from_barriers(const model::Function& kernel, std::string_view size);

}  // namespace warpath
