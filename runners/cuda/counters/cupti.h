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

/// The CUPTI functions used; plain data, like DriverApi.
struct CuptiApi {
// NOLINTNEXTLINE(bugprone-macro-parentheses)
#define WARPATH_X(function) decltype(&::function) function = nullptr;
  WARPATH_CUPTI(WARPATH_X)
#undef WARPATH_X
};

/// Opens `library` for the life of the process. nullopt, with one line in `why`, if it is missing
/// or too old.
[[nodiscard]] std::optional<CuptiApi> load_cupti(const std::string& library, std::string& why);
/// Opens the first of cupti_candidates() that works.
[[nodiscard]] std::optional<CuptiApi> load_any_cupti(const std::string& beside, std::string& why);

/// "cuptiX: CUPTI_ERROR_Y (N)", with advice if the driver denies this user the counters.
[[nodiscard]] std::string cupti_error(const CuptiApi& api,
                                      CUptiResult result,
                                      std::string_view call);

/// Defines a CUPTI parameter struct, zeroed and with its size set:
/// CUPTI_PARAMS(CUpti_RangeProfiler_Start_Params).
#define WARPATH_CUPTI_PARAMS(type, name) \
  type name{};                           \
  (name).structSize = type##_STRUCT_SIZE

/// The part of CUPTI that needs no GPU: the metrics of a chip and the passes needed to collect
/// them. Not thread-safe.
class CuptiHost {
 public:
  /// `chip`: CUPTI's name ("GH100"); `availability`: the device's counter availability image, may
  /// be empty. nullopt, with one line in `why`, if CUPTI does not know the chip.
  [[nodiscard]] static std::optional<CuptiHost> open(const CuptiApi& api,
                                                     const std::string& chip,
                                                     std::vector<std::uint8_t> availability,
                                                     std::string& why);
  ~CuptiHost();
  CuptiHost(CuptiHost&& other) noexcept;
  CuptiHost& operator=(CuptiHost&&) = delete;
  CuptiHost(const CuptiHost&) = delete;
  CuptiHost& operator=(const CuptiHost&) = delete;

  /// Whether the chip offers `name` ("dram__bytes_read.sum": base metric, dot, sub-metric).
  [[nodiscard]] bool offers(std::string_view name) const;
  /// The schedule that collects `names`. nullopt, with one line in `why`, if CUPTI refuses one of
  /// them. Call at most once per object.
  [[nodiscard]] std::optional<std::vector<std::uint8_t>> schedule(
      const std::vector<const char*>& names, std::string& why) const;
  /// Number of passes of a schedule; 0 if CUPTI does not report it.
  [[nodiscard]] std::size_t passes(std::vector<std::uint8_t>& schedule) const;
  /// Values of `names`, in order, in the first range of `data`. nullopt, with one line in `why`, on
  /// failure.
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

/// Names of the supported chips.
[[nodiscard]] std::vector<std::string> supported_chips(const CuptiApi& api);

}  // namespace warpath::cuda
