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

/// Operations per second of one type.
struct Rate {
  double per_s = 0;
  std::string method;  ///< how they were executed: "fma", "mma.sync", "wgmma", ...
  /// the chip has no faster way: the rate may serve to reject a time as impossible
  bool is_limit = false;
  bool operator==(const Rate&) const = default;
};

/// Peak rates of one GPU, measured on it, never taken from a table. A multiply-add counts as two
/// operations.
struct Peaks {
  std::string gpu;   ///< name reported by the driver
  std::string uuid;  ///< 32 hexadecimal digits
  int driver = 0;    ///< version from cuDriverGetVersion
  std::int64_t l2_size_bytes = 0;
  double copy_bytes_per_s = 0;  ///< device memory, read plus written
  double read_bytes_per_s = 0;
  double write_bytes_per_s = 0;
  double l2_bytes_per_s = 0;  ///< reading the level-2 cache
  /// By type, named as in a spec's bound: float64 float32 float16 bfloat16 tf32 int8 int32 sfu
  /// (base-2 exponentials).
  std::map<std::string, Rate, std::less<>> operations;
  double launch_event_ns = 0;  ///< empty kernel between two events
  double launch_graph_ns = 0;  ///< empty kernel in a graph of many, per kernel
  double launch_host_ns =
      0;  ///< empty kernel from its submission until the host knows that it ended
  double event_resolution_ns = 0;  ///< smallest difference between event times
  bool operator==(const Peaks&) const = default;

  /// The maximum of the copy, read and write rates.
  [[nodiscard]] double dram_bytes_per_s() const;

  /// Lower bounds, in ns by resource (dram l2 tensor fp32 fp64 int32 sfu), on the time of `bytes`
  /// of compulsory traffic and `operations` by type. With `l2_hot`, as much as fits into level 2
  /// may be cached. Types that were not measured are omitted.
  [[nodiscard]] std::map<std::string, double, std::less<>> bounds_ns(
      double bytes, const std::map<std::string, double>& operations, bool l2_hot) const;

  /// The time below which a result is impossible: the maximum of bounds_ns over rates with
  /// `is_limit`; 0 if nothing is known. Excludes launch overhead.
  [[nodiscard]] double floor_ns(double bytes,
                                const std::map<std::string, double>& operations,
                                bool l2_hot) const;
};

[[nodiscard]] nlohmann::json peaks_to_json(const Peaks& peaks);
/// Throws Error(bad_input) if a key is missing, unknown, mistyped or negative, or the schema
/// version differs.
[[nodiscard]] Peaks peaks_from_json(const JsonCursor& cursor);

/// FOLDER/UUID-DRIVER.json.
[[nodiscard]] std::filesystem::path peaks_file(const std::filesystem::path& folder,
                                               const std::string& uuid,
                                               int driver);
/// The file's contents for this GPU and driver; nullopt if it is missing, damaged, of another
/// version or another GPU.
[[nodiscard]] std::optional<Peaks> read_peaks(const std::filesystem::path& folder,
                                              const std::string& uuid,
                                              int driver);
/// Writes the file atomically. Returns false if the folder, a cache, cannot be written.
bool write_peaks(const std::filesystem::path& folder, const Peaks& peaks);
/// The default folder: "peaks" beside the compiled code.
[[nodiscard]] std::filesystem::path default_peaks_folder();

/// The compilation of the measuring kernels.
[[nodiscard]] CompileRequest peaks_request(const std::string& arch);

}  // namespace warpath::cuda
