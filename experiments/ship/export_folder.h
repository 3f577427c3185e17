#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "experiments/ship/machine_code.h"
#include "experiments/ship/shipment.h"

namespace warpath {

/// Files of a folder by name within it, which may contain folders.
using FolderFiles = std::vector<std::pair<std::string, std::string>>;

/// What is exported of a run: docs/export.md describes the files. Nothing in it refers to the run
/// folder or to this program. Throws Error(bad_input) for a spec that cannot be evaluated.
[[nodiscard]] FolderFiles export_files(const Shipment& shipment, const CompiledShipment& compiled);

/// Options of NVRTC that nvcc has too, "-std=c++17 -maxrregcount=64".
[[nodiscard]] std::string nvcc_options(const ShippedKernel& kernel);

/// Throws Error(bad_input) if there is something of this name.
void refuse_existing(const std::filesystem::path& folder);

/// Writes the folder under a temporary name beside it and renames that: `folder` never exists in
/// part. Throws Error(bad_input) if it exists, Error(environment) if it cannot be written.
void write_new_folder(const std::filesystem::path& folder, const FolderFiles& files);

}  // namespace warpath
