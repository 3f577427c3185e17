#pragma once

#include <memory>

#include "runners/reference/reference.h"

namespace warpath {

/// A reference that is an external program. Each computation creates a private folder in
/// `config.scratch_folder` with <argument>.npy for every input and inout tensor and scalars.json
/// ({"N": 4, "s": 0.5}), runs the program (engine/spec/npy.h says how types are stored), reads
/// <argument>.npy of every output and inout argument and removes the folder.
///
/// "{dir}" in an argument is replaced by the folder. The program starts in the caller's working
/// folder with PATH, HOME and a few more variables of the caller; it must exit with 0 within
/// `timeout_s`, print at most 1 MiB, and write every output: float outputs in their own type or
/// float64, others in their own type. Throws Error(bad_input) if `argv` is empty.
[[nodiscard]] std::unique_ptr<ReferenceSource> make_command_reference(
    const KernelSpec& spec, const ReferenceCommand& command, const ReferenceConfig& config);

}  // namespace warpath
