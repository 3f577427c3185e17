#include "runners/cuda/counters/counters.h"

#include <utility>

#include "engine/base/stopwatch.h"
#include "runners/cuda/counters/cupti.h"
#include "runners/cuda/driver/device.h"

namespace warpath::cuda {
namespace {

using Bytes = std::vector<std::uint8_t>;

/// Range profiling of one context, on while this lives. The context must be current.
class Profiler {
 public:
  explicit Profiler(const CuptiApi& api) : api_(api) {}
  ~Profiler() { static_cast<void>(disable()); }
  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;

  // Each is true or says in `why` which call failed.
  [[nodiscard]] bool enable(CUcontext context, std::string& why) {
    WARPATH_CUPTI_PARAMS(CUpti_RangeProfiler_Enable_Params, params);
    params.ctx = context;
    if (!done(api_.cuptiRangeProfilerEnable(&params), "cuptiRangeProfilerEnable", why))
      return false;
    object_ = params.pRangeProfilerObject;
    return true;
  }

  /// An empty image for the counters of one range.
  [[nodiscard]] bool make_image(std::vector<const char*> names,
                                Bytes& image,
                                std::string& why) const {
    WARPATH_CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataSize_Params, size);
    size.pRangeProfilerObject = object_;
    size.pMetricNames = names.data();
    size.numMetrics = names.size();
    size.maxNumOfRanges = 1;
    size.maxNumRangeTreeNodes = 1;
    if (!done(api_.cuptiRangeProfilerGetCounterDataSize(&size),
              "cuptiRangeProfilerGetCounterDataSize", why))
      return false;
    image.assign(size.counterDataSize, 0);
    WARPATH_CUPTI_PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize_Params, empty);
    empty.pRangeProfilerObject = object_;
    empty.counterDataSize = image.size();
    empty.pCounterData = image.data();
    return done(api_.cuptiRangeProfilerCounterDataImageInitialize(&empty),
                "cuptiRangeProfilerCounterDataImageInitialize", why);
  }

  /// One range a pass, which the caller repeats. `image` receives the counters and must stay where
  /// it is.
  [[nodiscard]] bool configure(const Bytes& schedule, Bytes& image, std::string& why) const {
    WARPATH_CUPTI_PARAMS(CUpti_RangeProfiler_SetConfig_Params, config);
    config.pRangeProfilerObject = object_;
    config.configSize = schedule.size();
    config.pConfig = schedule.data();
    config.counterDataImageSize = image.size();
    config.pCounterDataImage = image.data();
    config.range = CUPTI_UserRange;
    config.replayMode = CUPTI_UserReplay;
    config.maxRangesPerPass = 1;
    config.numNestingLevels = 1;
    config.minNestingLevel = 1;
    config.passIndex = 0;
    config.targetNestingLevel = 1;
    return done(api_.cuptiRangeProfilerSetConfig(&config), "cuptiRangeProfilerSetConfig", why);
  }

  /// Counts `launch` once; `complete` becomes true after the last pass.
  [[nodiscard]] bool pass(const std::function<void()>& launch,
                          bool& complete,
                          std::string& why) const {
    WARPATH_CUPTI_PARAMS(CUpti_RangeProfiler_Start_Params, start);
    start.pRangeProfilerObject = object_;
    if (!done(api_.cuptiRangeProfilerStart(&start), "cuptiRangeProfilerStart", why)) return false;
    WARPATH_CUPTI_PARAMS(CUpti_RangeProfiler_PushRange_Params, push);
    push.pRangeProfilerObject = object_;
    push.pRangeName = "launch";
    if (!done(api_.cuptiRangeProfilerPushRange(&push), "cuptiRangeProfilerPushRange", why))
      return false;
    launch();
    WARPATH_CUPTI_PARAMS(CUpti_RangeProfiler_PopRange_Params, pop);
    pop.pRangeProfilerObject = object_;
    if (!done(api_.cuptiRangeProfilerPopRange(&pop), "cuptiRangeProfilerPopRange", why))
      return false;
    WARPATH_CUPTI_PARAMS(CUpti_RangeProfiler_Stop_Params, stop);
    stop.pRangeProfilerObject = object_;
    if (!done(api_.cuptiRangeProfilerStop(&stop), "cuptiRangeProfilerStop", why)) return false;
    complete = stop.isAllPassSubmitted != 0;
    return true;
  }

  /// Moves what the passes counted into the image.
  [[nodiscard]] bool decode(const Bytes& image, std::string& why) const {
    WARPATH_CUPTI_PARAMS(CUpti_RangeProfiler_DecodeData_Params, decode);
    decode.pRangeProfilerObject = object_;
    if (!done(api_.cuptiRangeProfilerDecodeData(&decode), "cuptiRangeProfilerDecodeData", why))
      return false;
    WARPATH_CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataInfo_Params, info);
    info.pCounterDataImage = image.data();
    info.counterDataImageSize = image.size();
    if (!done(api_.cuptiRangeProfilerGetCounterDataInfo(&info),
              "cuptiRangeProfilerGetCounterDataInfo", why))
      return false;
    if (info.numTotalRanges == 1 && decode.numOfRangeDropped == 0) return true;
    why = "CUPTI counted " + std::to_string(info.numTotalRanges) + " ranges and dropped " +
          std::to_string(decode.numOfRangeDropped) + ", expected one and none";
    return false;
  }

  /// False if CUPTI does not switch off what was on.
  bool disable() {
    if (object_ == nullptr) return true;
    WARPATH_CUPTI_PARAMS(CUpti_RangeProfiler_Disable_Params, params);
    params.pRangeProfilerObject = std::exchange(object_, nullptr);
    return api_.cuptiRangeProfilerDisable(&params) == CUPTI_SUCCESS;
  }

 private:
  [[nodiscard]] bool done(CUptiResult result, const char* call, std::string& why) const {
    if (result == CUPTI_SUCCESS) return true;
    why = cupti_error(api_, result, call);
    return false;
  }

  const CuptiApi& api_;
  CUpti_RangeProfiler_Object* object_ = nullptr;
};

/// What CUPTI itself holds against profiling this device (" (CUPTI names: virtual GPU)"); empty if
/// nothing.
std::string objections(const CuptiApi& api, CUdevice device) {
  WARPATH_CUPTI_PARAMS(CUpti_Profiler_DeviceSupported_Params, params);
  params.cuDevice = device;
  params.api = CUPTI_PROFILER_RANGE_PROFILING;
  if (api.cuptiProfilerDeviceSupported(&params) != CUPTI_SUCCESS) return {};
  std::string list;
  const auto add = [&](CUpti_Profiler_Support_Level level, const char* what) {
    if (level != CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED &&
        level != CUPTI_PROFILER_CONFIGURATION_DISABLED)
      return;
    list += (list.empty() ? " (CUPTI names: " : ", ") + std::string(what);
  };
  add(params.architecture, "the architecture");
  add(params.sli, "SLI");
  add(params.vGpu, "virtual GPU");
  add(params.confidentialCompute, "confidential compute");
  add(params.cmp, "mining processor");
  add(params.wsl, "WSL");
  return list.empty() ? list : list + ")";
}

/// The chip's name; nullopt and one line in `why` if CUPTI does not work here.
std::optional<std::string> find_chip(const CuptiApi& api, CUdevice device, std::string& why) {
  WARPATH_CUPTI_PARAMS(CUpti_Profiler_Initialize_Params, begin);
  if (const CUptiResult result = api.cuptiProfilerInitialize(&begin); result != CUPTI_SUCCESS) {
    why = cupti_error(api, result, "cuptiProfilerInitialize");
    return std::nullopt;
  }
  WARPATH_CUPTI_PARAMS(CUpti_Device_GetChipName_Params, chip);
  chip.deviceIndex = static_cast<std::size_t>(device);
  if (const CUptiResult result = api.cuptiDeviceGetChipName(&chip); result != CUPTI_SUCCESS) {
    why = cupti_error(api, result, "cuptiDeviceGetChipName");
    return std::nullopt;
  }
  return chip.pChipName;
}

/// Which counters this very device has; empty where CUPTI does not say, and then those of the chip
/// are assumed.
Bytes availability_of(const CuptiApi& api, CUcontext context) {
  WARPATH_CUPTI_PARAMS(CUpti_Profiler_GetCounterAvailability_Params, params);
  params.ctx = context;
  if (api.cuptiProfilerGetCounterAvailability(&params) != CUPTI_SUCCESS) return {};
  Bytes image(params.counterAvailabilityImageSize);
  params.pCounterAvailabilityImage = image.data();
  if (api.cuptiProfilerGetCounterAvailability(&params) != CUPTI_SUCCESS) return {};
  image.resize(params.counterAvailabilityImageSize);
  return image;
}

}  // namespace

struct Counters::State {
  const Device& device;
  CuptiApi api;
  std::string chip;
  std::optional<CuptiHost> host;  // points to `api`
  std::vector<ResolvedMetric> resolved;
  std::vector<std::string> names;     // counters, ascending
  std::vector<const char*> pointers;  // to `names`
  Bytes schedule;
  std::size_t passes = 0;
  Bytes empty_image;
  Cost cost;

  [[nodiscard]] bool plan(std::span<const Metric> wanted, std::string& why);
};

bool Counters::State::plan(std::span<const Metric> wanted, std::string& why) {
  auto opened = CuptiHost::open(api, chip, availability_of(api, device.context()), why);
  if (!opened) return false;
  host.emplace(std::move(*opened));
  resolved = resolve_metrics(wanted, [&](std::string_view name) { return host->offers(name); });
  if (resolved.empty()) {
    why = "CUPTI offers none of the metrics on chip " + chip;
    return false;
  }
  names = counter_names(resolved);
  for (const std::string& name : names) pointers.push_back(name.c_str());
  auto planned = host->schedule(pointers, why);
  if (!planned) return false;
  schedule = std::move(*planned);
  passes = host->passes(schedule);
  if (passes == 0) {
    why = "CUPTI does not say how many passes its schedule takes";
    return false;
  }
  Profiler profiler(api);
  return profiler.enable(device.context(), why) && profiler.make_image(pointers, empty_image, why);
}

std::optional<Counters> Counters::open(const Device& device,
                                       const std::string& beside,
                                       std::string& why,
                                       std::span<const Metric> wanted) {
  auto api = load_any_cupti(beside, why);
  if (!api) return std::nullopt;
  auto chip = find_chip(*api, device.handle(), why);
  if (!chip) return std::nullopt;
  auto state =
      std::unique_ptr<State>(new State{device, *api, *chip, {}, {}, {}, {}, {}, 0, {}, {}});
  if (!state->plan(wanted, why)) {
    why += objections(state->api, device.handle());
    return std::nullopt;
  }
  return Counters(std::move(state));
}

Counters::Counters(std::unique_ptr<State> state) : state_(std::move(state)) {}
Counters::~Counters() = default;
Counters::Counters(Counters&&) noexcept = default;
Counters& Counters::operator=(Counters&&) noexcept = default;

std::optional<Readings> Counters::collect(const std::function<void()>& restore,
                                          const std::function<void()>& launch,
                                          std::string& why) {
  State& state = *state_;
  const DriverApi& driver = state.device.api();
  state.cost = {};
  Profiler profiler(state.api);
  Bytes image = state.empty_image;
  Stopwatch watch;
  if (!profiler.enable(state.device.context(), why) ||
      !profiler.configure(state.schedule, image, why))
    return std::nullopt;
  state.cost.enable = watch.seconds();
  bool complete = false;
  for (std::size_t i = 0; i < state.passes && !complete; ++i) {
    watch = {};
    restore();
    const CUresult ready = driver.cuCtxSynchronize();
    state.cost.restore += watch.seconds();
    watch = {};
    if (ready == CUDA_SUCCESS && !profiler.pass(launch, complete, why)) return std::nullopt;
    if (const CUresult ran = driver.cuCtxSynchronize();
        ready != CUDA_SUCCESS || ran != CUDA_SUCCESS) {
      why = "the device failed while its counters were read: " +
            error_text(driver, ready != CUDA_SUCCESS ? ready : ran);
      return std::nullopt;
    }
    state.cost.passes += watch.seconds();
  }
  if (!complete) {
    why = "CUPTI wants more than the " + std::to_string(state.passes) + " passes that it announced";
    return std::nullopt;
  }
  watch = {};
  if (!profiler.decode(image, why)) return std::nullopt;
  const auto values = state.host->evaluate(image, state.pointers, why);
  if (!values) return std::nullopt;
  state.cost.decode = watch.seconds();
  watch = {};
  profiler.disable();
  state.cost.disable = watch.seconds();
  Readings counters;
  for (std::size_t i = 0; i < state.names.size(); ++i)
    counters.emplace(state.names[i], (*values)[i]);
  return metric_values(state.resolved, counters);
}

const std::vector<ResolvedMetric>& Counters::resolved() const {
  return state_->resolved;
}

std::size_t Counters::passes() const {
  return state_->passes;
}

const std::string& Counters::chip() const {
  return state_->chip;
}

const Counters::Cost& Counters::last_cost() const {
  return state_->cost;
}

}  // namespace warpath::cuda
