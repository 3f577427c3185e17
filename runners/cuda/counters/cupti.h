#pragma once

#include <cuda.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warpath::cuda {

// clang-format off
#define WARPATH_CUPTI(X) \
  X(cuptiGetResultString) \
  X(cuptiProfilerInitialize) X(cuptiDeviceGetChipName) X(cuptiProfilerDeviceSupported) X(cuptiProfilerGetCounterAvailability) \
  X(cuptiProfilerHostInitialize) X(cuptiProfilerHostDeinitialize) X(cuptiProfilerHostGetSupportedChips) \
  X(cuptiProfilerHostGetBaseMetrics) X(cuptiProfilerHostGetSubMetrics) \
  X(cuptiProfilerHostConfigAddMetrics) X(cuptiProfilerHostGetConfigImageSize) \
  X(cuptiProfilerHostGetConfigImage) X(cuptiProfilerHostGetNumOfPasses) X(cuptiProfilerHostEvaluateToGpuValues) \
  X(cuptiRangeProfilerEnable) X(cuptiRangeProfilerDisable) X(cuptiRangeProfilerSetConfig) X(cuptiRangeProfilerStart) \
  X(cuptiRangeProfilerStop) X(cuptiRangeProfilerPushRange) X(cuptiRangeProfilerPopRange) X(cuptiRangeProfilerDecodeData) \
  X(cuptiRangeProfilerGetCounterDataSize) X(cuptiRangeProfilerCounterDataImageInitialize) \
  X(cuptiRangeProfilerGetCounterDataInfo)
// clang-format on

/// Every function of CUPTI that this program calls; plain data, as DriverApi.
struct CuptiApi {
#define WARPATH_X(function) decltype(&::function) function = nullptr;
  WARPATH_CUPTI(WARPATH_X)
#undef WARPATH_X
};

/// Opens `library`, which stays open for the life of the process. nullopt and one line in `why` if
/// it is missing or too old.
[[nodiscard]] std::optional<CuptiApi> load_cupti(const std::string& library, std::string& why);
/// Opens the first of cupti_candidates() that works.
[[nodiscard]] std::optional<CuptiApi> load_any_cupti(const std::string& beside, std::string& why);

/// "cuptiX: CUPTI_ERROR_Y (N)", with advice where the driver forbids counters to this user.
[[nodiscard]] std::string cupti_error(const CuptiApi& api,
                                      CUptiResult result,
                                      std::string_view call);

/// A parameter struct of CUPTI, zeroed and with its size filled in:
/// CUPTI_PARAMS(CUpti_RangeProfiler_Start_Params).
#define WARPATH_CUPTI_PARAMS(type, name) \
  type name{};                           \
  (name).structSize = type##_STRUCT_SIZE

/// The part of CUPTI that needs no GPU: what a chip can count, and how often a kernel must run for
/// it. Not thread-safe.
class CuptiHost {
 public:
  /// `chip` as CUPTI names it ("GH100"); `availability` is the device's counter availability image,
  /// may be empty. nullopt and one line in `why` where CUPTI does not know the chip.
  [[nodiscard]] static std::optional<CuptiHost> open(const CuptiApi& api,
                                                     const std::string& chip,
                                                     std::vector<std::uint8_t> availability,
                                                     std::string& why);
  ~CuptiHost();
  CuptiHost(CuptiHost&& other) noexcept;
  CuptiHost& operator=(CuptiHost&&) = delete;
  CuptiHost(const CuptiHost&) = delete;
  CuptiHost& operator=(const CuptiHost&) = delete;

  /// Whether the chip counts `name` ("dram__bytes_read.sum": base metric, dot, sub-metric).
  [[nodiscard]] bool offers(std::string_view name) const;
  /// The schedule that collects `names`. nullopt and one line in `why` where CUPTI refuses one of
  /// them. Once for an object.
  [[nodiscard]] std::optional<std::vector<std::uint8_t>> schedule(
      const std::vector<const char*>& names, std::string& why) const;
  /// How many runs a schedule needs; 0 where CUPTI does not say.
  [[nodiscard]] std::size_t passes(std::vector<std::uint8_t>& schedule) const;
  /// Values of `names`, in order, in the first range of `data`. nullopt and one line in `why`.
  [[nodiscard]] std::optional<std::vector<double>> evaluate(const std::vector<std::uint8_t>& data,
                                                            std::vector<const char*> names,
                                                            std::string& why) const;

 private:
  CuptiHost(const CuptiApi& api,
            CUpti_Profiler_Host_Object* object,
            std::vector<std::uint8_t> availability);

  const CuptiApi* api_;
  CUpti_Profiler_Host_Object* object_;
  std::vector<std::uint8_t> availability_;  // the object may keep pointing to it
  std::vector<std::string> base_metrics_[CUPTI_METRIC_TYPE__COUNT];  // by type, ascending
};

/// Names of the chips that this CUPTI knows.
[[nodiscard]] std::vector<std::string> supported_chips(const CuptiApi& api);

}  // namespace warpath::cuda
