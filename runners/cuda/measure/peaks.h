#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "engine/json/json_reader.h"
#include "runners/cuda/compile/compile.h"

namespace warpath::cuda {

class Device;

inline constexpr double kNsPerS = 1e9;

/// Operations a second of one type.
struct Rate {
  double per_s = 0;
  std::string method;     ///< how they were made: "fma", "mma.sync", "wgmma", ...
  bool is_limit = false;  ///< nothing on the chip does this type faster: the rate may refuse a time
                          ///< as impossible
  bool operator==(const Rate&) const = default;
};

/// What one GPU can do at most, measured on it and never taken from a table. A multiply-add counts
/// as two operations.
struct Peaks {
  std::string gpu;   ///< name, as the driver gives it
  std::string uuid;  ///< 32 hexadecimal digits
  int driver = 0;    ///< version, as cuDriverGetVersion gives it
  std::int64_t l2_size_bytes = 0;
  double copy_bytes_per_s = 0;  ///< read and written together, of device memory
  double read_bytes_per_s = 0;
  double write_bytes_per_s = 0;
  double l2_bytes_per_s = 0;  ///< read from the level-2 cache
  /// By type, named as in a spec's bound: float64 float32 float16 bfloat16 tf32 int8 int32 sfu
  /// (base-2 exponentials).
  std::map<std::string, Rate, std::less<>> operations;
  double launch_event_ns = 0;  ///< empty kernel between two events
  double launch_graph_ns = 0;  ///< empty kernel in a graph of many, each
  double launch_host_ns =
      0;  ///< empty kernel from its submission until the host knows that it ended
  double event_resolution_ns = 0;  ///< smallest difference between event times
  bool operator==(const Peaks&) const = default;

  /// The best of copying, reading and writing.
  [[nodiscard]] double dram_bytes_per_s() const;

  /// Times that `bytes` of compulsory traffic and `operations` (by type) take at least, in ns, by
  /// resource: dram l2 tensor fp32 fp64 int32 sfu. With `l2_hot`, as much as fits in level 2 may be
  /// there already. Types that were not measured are left out.
  [[nodiscard]] std::map<std::string, double, std::less<>> bounds_ns(
      double bytes, const std::map<std::string, double>& operations, bool l2_hot) const;

  /// The time below which a result is impossible: the largest of bounds_ns, counting only rates
  /// with `is_limit`. 0 if nothing is known. The launch is not in it.
  [[nodiscard]] double floor_ns(double bytes,
                                const std::map<std::string, double>& operations,
                                bool l2_hot) const;
};

[[nodiscard]] nlohmann::json peaks_to_json(const Peaks& peaks);
/// Throws Error(bad_input) where a key is missing, unknown, mistyped, negative or of another schema
/// version.
[[nodiscard]] Peaks peaks_from_json(const JsonCursor& cursor);

/// FOLDER/UUID-DRIVER.json.
[[nodiscard]] std::filesystem::path peaks_file(const std::filesystem::path& folder,
                                               const std::string& uuid,
                                               int driver);
/// What the file holds for this GPU and driver; nullopt if it is missing, damaged, of another
/// version or another GPU's.
[[nodiscard]] std::optional<Peaks> read_peaks(const std::filesystem::path& folder,
                                              const std::string& uuid,
                                              int driver);
/// Writes the file whole or not at all. False if the folder cannot be written: it is a cache.
bool write_peaks(const std::filesystem::path& folder, const Peaks& peaks);
/// The folder used unless an option names one: "peaks" beside that of compiled code.
[[nodiscard]] std::filesystem::path default_peaks_folder();

/// The compilation that makes the measuring kernels' machine code.
[[nodiscard]] CompileRequest peaks_request(const std::string& arch);

/// Measures. `cubin` is what peaks_request compiles to. The context must be current and the GPU
/// otherwise idle. Takes a second or less and an eighth of the free memory, 2 GiB at most. Throws
/// Error(environment) where the driver refuses something.
[[nodiscard]] Peaks measure_peaks(const Device& device, const std::string& cubin);

/// read_peaks, else `compile`, measure_peaks and write_peaks. Throws what those throw.
[[nodiscard]] Peaks find_peaks(const Device& device,
                               const std::filesystem::path& folder,
                               const std::function<std::string()>& compile);

}  // namespace warpath::cuda
