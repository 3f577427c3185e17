#include "runners/cuda/counters/cupti.h"

#include <dlfcn.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "runners/cuda/counters/cupti_places.h"

namespace warpath::cuda {
namespace {

constexpr CUpti_MetricType kMetricTypes[] = {CUPTI_METRIC_TYPE_COUNTER, CUPTI_METRIC_TYPE_RATIO,
                                             CUPTI_METRIC_TYPE_THROUGHPUT};

}  // namespace

#define WARPATH_STRING2(x) #x
#define WARPATH_STRING(x) WARPATH_STRING2(x)

std::optional<CuptiApi> load_cupti(const std::string& library, std::string& why) {
  void* const handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    why = ::dlerror();
    return std::nullopt;
  }
  CuptiApi api;
#define WARPATH_X(function)                                                                       \
  api.function =                                                                                  \
      reinterpret_cast<decltype(api.function)>(::dlsym(handle, WARPATH_STRING(function)));        \
  if (api.function == nullptr) {                                                                  \
    why = library + " lacks " WARPATH_STRING(function) ": CUPTI of CUDA 12.6 or newer is needed"; \
    return std::nullopt;                                                                          \
  }
  WARPATH_CUPTI(WARPATH_X)
#undef WARPATH_X
  return api;
}

std::optional<CuptiApi> load_any_cupti(const std::string& beside, std::string& why) {
  std::string first_reason;
  for (const std::string& candidate : cupti_candidates(beside)) {
    if (auto api = load_cupti(candidate, why)) return api;
    if (first_reason.empty() || std::filesystem::path(candidate).is_absolute()) first_reason = why;
  }
  why = first_reason + "; it comes with the CUDA toolkit (extras/CUPTI; pip: nvidia-cuda-cupti)";
  return std::nullopt;
}

std::string cupti_error(const CuptiApi& api, CUptiResult result, std::string_view call) {
  const char* name = nullptr;
  const bool named = api.cuptiGetResultString(result, &name) == CUPTI_SUCCESS && name != nullptr;
  std::string text = std::string(call) + ": " + (named ? name : "CUPTI error") + " (" +
                     std::to_string(result) + ")";
  if (result == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES) {
    text +=
        "; the driver gives counters to administrators only (module option "
        "NVreg_RestrictProfilingToAdminUsers=0 allows all)";
  }
  return text;
}

CuptiHost::CuptiHost(const CuptiApi& api,
                     CUpti_Profiler_Host_Object* object,
                     std::vector<std::uint8_t> availability)
    : api_(&api), object_(object), availability_(std::move(availability)) {
  for (const CUpti_MetricType type : kMetricTypes) {
    WARPATH_CUPTI_PARAMS(CUpti_Profiler_Host_GetBaseMetrics_Params, list);
    list.pHostObject = object_;
    list.metricType = type;
    if (api_->cuptiProfilerHostGetBaseMetrics(&list) != CUPTI_SUCCESS) continue;
    std::vector<std::string>& names = base_metrics_[type];
    names.assign(list.ppMetricNames, list.ppMetricNames + list.numMetrics);
    std::ranges::sort(names);
  }
}

CuptiHost::CuptiHost(CuptiHost&& other) noexcept
    : api_(other.api_),
      object_(std::exchange(other.object_, nullptr)),
      availability_(std::move(other.availability_)) {
  std::ranges::move(other.base_metrics_, base_metrics_);
}

CuptiHost::~CuptiHost() {
  if (object_ == nullptr) return;
  WARPATH_CUPTI_PARAMS(CUpti_Profiler_Host_Deinitialize_Params, end);
  end.pHostObject = object_;
  static_cast<void>(api_->cuptiProfilerHostDeinitialize(&end));
}

std::optional<CuptiHost> CuptiHost::open(const CuptiApi& api,
                                         const std::string& chip,
                                         std::vector<std::uint8_t> availability,
                                         std::string& why) {
  WARPATH_CUPTI_PARAMS(CUpti_Profiler_Host_Initialize_Params, begin);
  begin.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
  begin.pChipName = chip.c_str();
  begin.pCounterAvailabilityImage = availability.empty() ? nullptr : availability.data();
  if (const CUptiResult result = api.cuptiProfilerHostInitialize(&begin); result != CUPTI_SUCCESS) {
    why = cupti_error(api, result, "cuptiProfilerHostInitialize for chip " + chip);
    return std::nullopt;
  }
  return CuptiHost(api, begin.pHostObject, std::move(availability));
}

bool CuptiHost::offers(std::string_view name) const {
  const std::size_t dot = name.find('.');
  if (dot == std::string_view::npos) return false;
  const std::string base(name.substr(0, dot));
  const std::string_view wanted = name.substr(dot);
  for (const CUpti_MetricType type : kMetricTypes) {
    if (!std::ranges::binary_search(base_metrics_[type], base)) continue;
    WARPATH_CUPTI_PARAMS(CUpti_Profiler_Host_GetSubMetrics_Params, list);
    list.pHostObject = object_;
    list.metricType = type;
    list.pMetricName = base.c_str();
    if (api_->cuptiProfilerHostGetSubMetrics(&list) != CUPTI_SUCCESS) continue;
    for (std::size_t i = 0; i < list.numOfSubmetrics; ++i) {
      if (wanted == list.ppSubMetrics[i]) return true;
    }
  }
  return false;
}

std::optional<std::vector<std::uint8_t>> CuptiHost::schedule(const std::vector<const char*>& names,
                                                             std::string& why) const {
  std::vector<const char*> list = names;
  WARPATH_CUPTI_PARAMS(CUpti_Profiler_Host_ConfigAddMetrics_Params, add);
  add.pHostObject = object_;
  add.ppMetricNames = list.data();
  add.numMetrics = list.size();
  if (const CUptiResult result = api_->cuptiProfilerHostConfigAddMetrics(&add);
      result != CUPTI_SUCCESS) {
    why = cupti_error(*api_, result, "cuptiProfilerHostConfigAddMetrics");
    return std::nullopt;
  }
  WARPATH_CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImageSize_Params, size);
  size.pHostObject = object_;
  if (const CUptiResult result = api_->cuptiProfilerHostGetConfigImageSize(&size);
      result != CUPTI_SUCCESS) {
    why = cupti_error(*api_, result, "cuptiProfilerHostGetConfigImageSize");
    return std::nullopt;
  }
  std::vector<std::uint8_t> image(size.configImageSize);
  WARPATH_CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImage_Params, get);
  get.pHostObject = object_;
  get.configImageSize = image.size();
  get.pConfigImage = image.data();
  if (const CUptiResult result = api_->cuptiProfilerHostGetConfigImage(&get);
      result != CUPTI_SUCCESS) {
    why = cupti_error(*api_, result, "cuptiProfilerHostGetConfigImage");
    return std::nullopt;
  }
  return image;
}

std::size_t CuptiHost::passes(std::vector<std::uint8_t>& schedule) const {
  WARPATH_CUPTI_PARAMS(CUpti_Profiler_Host_GetNumOfPasses_Params, count);
  count.configImageSize = schedule.size();
  count.pConfigImage = schedule.data();
  return api_->cuptiProfilerHostGetNumOfPasses(&count) == CUPTI_SUCCESS ? count.numOfPasses : 0;
}

std::optional<std::vector<double>> CuptiHost::evaluate(const std::vector<std::uint8_t>& data,
                                                       std::vector<const char*> names,
                                                       std::string& why) const {
  std::vector<double> values(names.size());
  WARPATH_CUPTI_PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues_Params, all);
  all.pHostObject = object_;
  all.pCounterDataImage = data.data();
  all.counterDataImageSize = data.size();
  all.rangeIndex = 0;
  all.ppMetricNames = names.data();
  all.numMetrics = names.size();
  all.pMetricValues = values.data();
  if (const CUptiResult result = api_->cuptiProfilerHostEvaluateToGpuValues(&all);
      result != CUPTI_SUCCESS) {
    why = cupti_error(*api_, result, "cuptiProfilerHostEvaluateToGpuValues");
    return std::nullopt;
  }
  return values;
}

std::vector<std::string> supported_chips(const CuptiApi& api) {
  WARPATH_CUPTI_PARAMS(CUpti_Profiler_Host_GetSupportedChips_Params, chips);
  if (api.cuptiProfilerHostGetSupportedChips(&chips) != CUPTI_SUCCESS) return {};
  return {chips.ppChipNames, chips.ppChipNames + chips.numChips};
}

}  // namespace warpath::cuda
