#pragma once

#include <cstddef>
#include <string>

#include "engine/plugin/move_instance.h"
#include "moves/syntax/unit.h"

namespace warpath {

/// What a template substitutes for a kernel's body.
struct KernelText {
  std::string helpers;        ///< device functions to insert before the kernel
  std::string body;           ///< unindented statements
  std::string launch_bounds;  ///< arguments of __launch_bounds__
};

/// The source of `unit` with the kernel's body replaced, helpers inserted before the kernel and its
/// comment, and the given launch bounds.
[[nodiscard]] std::string with_kernel_text(const model::Unit& unit,
                                           const model::Function& kernel,
                                           const KernelText& text);

}  // namespace warpath
