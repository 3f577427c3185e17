#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "runners/cuda/measure/peaks.h"

namespace warpath::cuda {

/// Measures. `cubin`: result of peaks_request. The context must be current and the GPU otherwise
/// idle. Takes at most a second and an eighth of the free memory, 2 GiB at most. Throws
/// Error(environment) if the driver refuses something.
[[nodiscard]] Peaks measure_peaks(const Device& device, const std::string& cubin);

/// read_peaks or, failing that, `compile`, measure_peaks and write_peaks. Throws what those throw.
[[nodiscard]] Peaks find_peaks(const Device& device,
                               const std::filesystem::path& folder,
                               const std::function<std::string()>& compile);

}  // namespace warpath::cuda
