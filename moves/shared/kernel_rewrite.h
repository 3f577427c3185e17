#pragma once

#include <cstddef>
#include <string>

#include "engine/plugin/move.h"
#include "moves/model/syntax.h"

namespace warpath {

/// What a template puts in the place of a kernel's body.
struct KernelText {
  std::string helpers;        ///< device functions to stand before the kernel
  std::string body;           ///< statements, not indented
  std::string launch_bounds;  ///< arguments of __launch_bounds__
};

/// The source of `unit` with the text between the braces of `kernel` replaced, helpers before the
/// kernel and its comment, and launch bounds as given.
[[nodiscard]] std::string with_kernel_text(const model::Unit& unit,
                                           const model::Function& kernel,
                                           const KernelText& text);

/// Reads the parameter `name`, which must be one of `tunable.values`; false with one line in `why`.
[[nodiscard]] bool read_parameter(const MoveInstance& instance,
                                  const Tunable& tunable,
                                  int& value,
                                  std::string& why);

}  // namespace warpath
