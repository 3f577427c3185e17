#include "runners/cuda/measure/peaks.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "engine/base/error.h"
#include "engine/json/record_codec.h"
#include "engine/log/run_folder.h"
#include "runners/cuda/compile/folder_cache.h"
#include "runners/peaks_code.h"

namespace warpath {

constexpr std::uint64_t kPeaksSchema = 1;  // grows whenever a kernel or an estimator changes

template <>
struct Description<cuda::Rate> : Record<Kept<"per_s", &cuda::Rate::per_s, NotNegative>,
                                        Kept<"method", &cuda::Rate::method>,
                                        Kept<"is_limit", &cuda::Rate::is_limit>> {};
template <>
struct Description<cuda::Peaks>
    : Record<AlwaysNumber<"schema", kPeaksSchema>,
             Kept<"gpu", &cuda::Peaks::gpu>,
             Kept<"uuid", &cuda::Peaks::uuid>,
             Kept<"driver", &cuda::Peaks::driver>,
             Kept<"l2_size_bytes", &cuda::Peaks::l2_size_bytes, NotNegative>,
             Kept<"copy_bytes_per_s", &cuda::Peaks::copy_bytes_per_s, NotNegative>,
             Kept<"read_bytes_per_s", &cuda::Peaks::read_bytes_per_s, NotNegative>,
             Kept<"write_bytes_per_s", &cuda::Peaks::write_bytes_per_s, NotNegative>,
             Kept<"l2_bytes_per_s", &cuda::Peaks::l2_bytes_per_s, NotNegative>,
             Kept<"launch_event_ns", &cuda::Peaks::launch_event_ns, NotNegative>,
             Kept<"launch_graph_ns", &cuda::Peaks::launch_graph_ns, NotNegative>,
             Kept<"launch_host_ns", &cuda::Peaks::launch_host_ns, NotNegative>,
             Kept<"event_resolution_ns", &cuda::Peaks::event_resolution_ns, NotNegative>,
             Kept<"operations", &cuda::Peaks::operations>> {};

}  // namespace warpath

namespace warpath::cuda {
namespace {

/// Resource that works on a type.
constexpr std::pair<std::string_view, std::string_view> kResources[] = {
    {"float64", "fp64"}, {"float32", "fp32"}, {"float16", "tensor"}, {"bfloat16", "tensor"},
    {"tf32", "tensor"},  {"int8", "tensor"},  {"int32", "int32"},    {"sfu", "sfu"},
};

using Bounds = std::map<std::string, double, std::less<>>;

Bounds bounds_of(const Peaks& peaks,
                 double bytes,
                 const std::map<std::string, double>& operations,
                 bool l2_hot,
                 bool limits_only) {
  Bounds bounds;
  const double from_dram =
      l2_hot ? std::max(0.0, bytes - static_cast<double>(peaks.l2_size_bytes)) : bytes;
  if (peaks.dram_bytes_per_s() > 0) bounds["dram"] = from_dram / peaks.dram_bytes_per_s() * kNsPerS;
  if (peaks.l2_bytes_per_s > 0) bounds["l2"] = bytes / peaks.l2_bytes_per_s * kNsPerS;
  for (const auto& [type, resource] : kResources) {
    const auto count = operations.find(std::string(type));
    const auto rate = peaks.operations.find(type);
    if (count == operations.end() || rate == peaks.operations.end() || !(rate->second.per_s > 0))
      continue;
    if (limits_only && !rate->second.is_limit) continue;
    bounds[std::string(resource)] += count->second / rate->second.per_s * kNsPerS;
  }
  return bounds;
}

}  // namespace

double Peaks::dram_bytes_per_s() const {
  return std::max({copy_bytes_per_s, read_bytes_per_s, write_bytes_per_s});
}

std::map<std::string, double, std::less<>> Peaks::bounds_ns(
    double bytes, const std::map<std::string, double>& work, bool l2_hot) const {
  return bounds_of(*this, bytes, work, l2_hot, false);
}

double Peaks::floor_ns(double bytes, const std::map<std::string, double>& work, bool l2_hot) const {
  double floor = 0;
  for (const auto& [resource, time_ns] : bounds_of(*this, bytes, work, l2_hot, true))
    floor = std::max(floor, time_ns);
  return floor;
}

nlohmann::json peaks_to_json(const Peaks& peaks) {
  return Codec<Peaks>::write(peaks);
}

Peaks peaks_from_json(const JsonCursor& cursor) {
  Peaks peaks;
  Codec<Peaks>::read(cursor, peaks);
  return peaks;
}

std::filesystem::path peaks_file(const std::filesystem::path& folder,
                                 const std::string& uuid,
                                 int driver) {
  return folder / (uuid + "-" + std::to_string(driver) + ".json");
}

std::optional<Peaks> read_peaks(const std::filesystem::path& folder,
                                const std::string& uuid,
                                int driver) {
  const std::string path = peaks_file(folder, uuid, driver).string();
  try {
    const nlohmann::json document = read_json_file(path);
    Peaks peaks = peaks_from_json(JsonCursor(document, path));
    if (peaks.uuid != uuid || peaks.driver != driver) return std::nullopt;
    return peaks;
  } catch (const Error&) {
    return std::nullopt;  // a cache: what cannot be read is measured again
  }
}

bool write_peaks(const std::filesystem::path& folder, const Peaks& peaks) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return false;
  try {
    write_file_atomically(peaks_file(folder, peaks.uuid, peaks.driver),
                          peaks_to_json(peaks).dump(2) + "\n", false);
  } catch (const Error&) {
    return false;
  }
  return true;
}

std::filesystem::path default_peaks_folder() {
  return default_cache_folder("peaks");
}

CompileRequest peaks_request(const std::string& arch) {
  return {.source = kPeaksCode, .kernel = "peak_empty", .arch = arch, .options = {}};
}

}  // namespace warpath::cuda
