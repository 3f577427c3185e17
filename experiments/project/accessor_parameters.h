#pragma once

#include <optional>
#include <string>
#include <vector>

#include "moves/syntax/unit.h"

namespace warpath {

/// A kernel that takes tensor accessors (PyTorch's PackedTensorAccessor, Torch's THCDeviceTensor),
/// as one that takes their pointers and sizes instead.
struct KernelOfAccessors {
  std::string source;
  std::vector<std::string> notes;  ///< of each accessor, what the text takes in its place
};

/// The accessor `x` of rank 2 becomes `T* x, int x_size0, int x_size1`, `x[i][j]` becomes
/// `x[(i) * x_size1 + (j)]`: a tensor without gaps. nullopt where the kernel takes none, and with
/// the reason in `why` where one is used otherwise than by its elements, sizes, strides and data,
/// or where the file has such a name already.
[[nodiscard]] std::optional<KernelOfAccessors> kernel_of_accessors(const model::Unit& unit,
                                                                   const model::Function& kernel,
                                                                   std::string& why);

}  // namespace warpath
