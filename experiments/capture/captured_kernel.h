#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace warpath {

/// One parameter of a launch.
struct CapturedParameter {
  std::uint64_t offset = 0, size = 0;  ///< among the kernel's parameters, in bytes
  std::string bytes;                   ///< two hexadecimal digits a byte, as they lie in memory
  /// The words that point into device memory: position within the parameter, bytes of the
  /// allocation, offset within it.
  std::vector<std::array<std::uint64_t, 3>> pointers;
  std::string contents;  ///< file with what it points to, relative to the capture; empty: not asked
  bool operator==(const CapturedParameter&) const = default;

  [[nodiscard]] bool is_pointer() const { return size == 8 && pointers.size() == 1; }
  /// Bytes from where it points to the end of the allocation.
  [[nodiscard]] std::uint64_t bytes_behind() const { return pointers[0][1] - pointers[0][2]; }
};

/// Launches of one kernel that differ in nothing but the addresses of their buffers.
struct CapturedLaunch {
  std::array<std::int64_t, 3> grid{1, 1, 1}, block{1, 1, 1}, cluster{1, 1, 1};
  std::int64_t dynamic_smem_bytes = 0;
  std::vector<CapturedParameter> parameters;
  std::uint64_t launches = 0;
  std::vector<double> samples_ns;  ///< device times of some of them
  double weight = 0;               ///< share of the kernel's device time
  /// Shapes of which only the number is known: there were too many.
  bool others = false;

  [[nodiscard]] double median_ns() const;  ///< 0: not timed
};

/// A kernel with its launches, those that take most of the time first.
struct CapturedKernel {
  std::string kernel;     ///< its name without namespaces and arguments: row_sum
  std::string symbol;     ///< as the driver knows it
  std::string signature;  ///< demangled, with template arguments; the symbol of a C name
  std::string image;      ///< hash of its code
  std::string device;
  double share = 0;    ///< of the device time of all kernels
  double time_ns = 0;  ///< of all its launches, estimated
  std::vector<CapturedLaunch> launches;
};

/// The share of device time that is of interest unless said otherwise.
inline constexpr double kCapturedShare = 0.9;
/// The value of a flag `--share`. Throws Error(bad_input) unless it is a number in (0, 1].
[[nodiscard]] double share_from(const std::string& text);

/// Fills in `kernel` and `signature` by `symbol`.
void name_kernel(CapturedKernel& kernel);

/// A kernel's launches as a file: what `warpath init --launches` reads. Reading throws
/// Error(bad_input) naming file, key and value.
[[nodiscard]] std::string launches_text(const CapturedKernel& kernel);
[[nodiscard]] CapturedKernel read_launches(const std::filesystem::path& file);

}  // namespace warpath
