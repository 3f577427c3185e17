#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "experiments/capture/captured_kernel.h"

namespace warpath {

/// What an application did with the driver.
struct Capture {
  std::vector<CapturedKernel> kernels;  ///< those that take most of the time first
  std::size_t processes = 0;            ///< that used the driver
  std::uint64_t launches = 0;
  std::uint64_t graph_launches = 0;  ///< whose kernels are counted once, when the graph was made
  std::size_t unfinished = 0;        ///< logs that end in the middle of a line
  bool timed = false;                ///< whether any launch was
};

/// The logs below FOLDER/log of all processes, equal launches together. Throws Error(bad_input)
/// with file and line for a line that is none of a log; a last one without its end is left out.
[[nodiscard]] Capture read_capture(const std::filesystem::path& folder);

/// How many of the kernels make up `share` of the device time, or of the launches if none was
/// timed.
[[nodiscard]] std::size_t kernels_in_share(const Capture& capture, double share);

}  // namespace warpath
