#pragma once

#include <string>

#include "engine/spec/spec.h"
#include "experiments/ship/template_text.h"

namespace warpath {

/// Placeholders of templates/tvm_ffi.cc.in: PARAMETERS, ASSIGN, LAUNCH, CALL, FIRST.
[[nodiscard]] Placeholders tvm_ffi_code(const KernelSpec& spec);
/// Placeholders of templates/torch.cc.in: the same, and SCHEMA. PyTorch has no unsigned integers of
/// 16 to 64 bits: tensors of these are passed as the signed type of their width.
[[nodiscard]] Placeholders torch_code(const KernelSpec& spec);

}  // namespace warpath
