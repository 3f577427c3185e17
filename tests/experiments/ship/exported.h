#pragma once

#include <string>
#include <vector>

#include "engine/spec/spec.h"
#include "engine/spec/variant.h"

namespace warpath::testing {

/// A spec whose kernel takes every kind of argument, and a better variant of it that has
/// everything: a launch of its own with clusters and more than 48 KiB of shared memory, scratch
/// memory, buffers cleared before and a kernel after.
struct ManySided {
  KernelSpec spec;
  Variant best;
};
[[nodiscard]] ManySided many_sided();

/// Exit code and output of a command in a folder.
struct CommandOutput {
  int code = -1;
  std::string text;
};
[[nodiscard]] CommandOutput run_in(const std::string& folder, const std::vector<std::string>& argv);

/// nvcc; empty where there is none. The include folder of its toolkit.
[[nodiscard]] std::string nvcc();
[[nodiscard]] std::string cuda_includes();

}  // namespace warpath::testing
