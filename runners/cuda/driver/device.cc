#include "runners/cuda/driver/device.h"

namespace warpath::cuda {

Device::Device(const DriverApi& api, int index) : api_(api) {
  require(api_, api_.cuInit(0), "cannot start the CUDA driver");
  require(api_, api_.cuDeviceGet(&device_, index),
          ("there is no GPU " + std::to_string(index)).c_str());
  require(api_, api_.cuDevicePrimaryCtxRetain(&context_, device_),
          ("cannot use GPU " + std::to_string(index)).c_str());
  if (const CUresult result = api_.cuCtxSetCurrent(context_); result != CUDA_SUCCESS) {
    note_release(api_.cuDevicePrimaryCtxRelease(device_));
    require(api_, result, "cannot use the GPU's context");
  }
}

Device::~Device() {
  note_release(api_.cuCtxSetCurrent(nullptr));
  note_release(api_.cuDevicePrimaryCtxRelease(device_));
}

void Device::make_current() const {
  require(api_, api_.cuCtxSetCurrent(context_), "cannot use the GPU's context");
}

std::string Device::name() const {
  char text[256] = {};
  require(api_, api_.cuDeviceGetName(text, sizeof text - 1, device_), "cannot read the GPU's name");
  return text;
}

std::string Device::arch() const {
  const DeviceLimits all = limits();
  const std::string number = std::to_string(all.compute_major * 10 + all.compute_minor);
  return "sm_" + number + (all.compute_major >= 9 ? "a" : "");
}

int Device::attribute(CUdevice_attribute which) const {
  int value = 0;
  require(api_, api_.cuDeviceGetAttribute(&value, which, device_),
          "cannot read an attribute of the GPU");
  return value;
}

DeviceLimits Device::limits() const {
  return {.compute_major = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
          .compute_minor = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR),
          .multiprocessors = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
          .threads_per_sm = attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR),
          .blocks_per_sm = attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR),
          .registers_per_sm = attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR),
          .registers_per_block = attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK),
          .threads_per_block = attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
          .smem_per_sm_bytes = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR),
          .smem_per_block_bytes = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN),
          .reserved_smem_bytes = attribute(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK)};
}

namespace {

/// False with the reason if the module lacks `entry` or the driver says nothing of it.
bool find_function(const DriverApi& api,
                   CUmodule module,
                   const std::string& entry,
                   KernelFunction& kernel,
                   std::string& why) {
  const auto refused = [&](const char* what, CUresult result) {
    why = std::string(what) + ": " + error_text(api, result);
    return false;
  };
  if (const CUresult result = api.cuModuleGetFunction(&kernel.function, module, entry.c_str());
      result != CUDA_SUCCESS) {
    return refused("the module lacks its kernel", result);
  }
  std::size_t offset = 0, size = 0;
  while (api.cuFuncGetParamInfo(kernel.function, kernel.parameter_sizes.size(), &offset, &size) ==
         CUDA_SUCCESS) {
    kernel.parameter_offsets.push_back(offset);
    kernel.parameter_sizes.push_back(size);
  }
  const std::pair<CUfunction_attribute, int*> wanted[] = {
      {CU_FUNC_ATTRIBUTE_NUM_REGS, &kernel.registers},
      {CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, &kernel.static_smem_bytes},
      {CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, &kernel.local_bytes},
      {CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &kernel.max_threads_per_block}};
  for (const auto& [attribute, value] : wanted) {
    if (const CUresult result = api.cuFuncGetAttribute(value, attribute, kernel.function);
        result != CUDA_SUCCESS) {
      return refused("the kernel's attributes cannot be read", result);
    }
  }
  return true;
}

}  // namespace

std::optional<LoadedKernel> load_kernel(const DriverApi& api,
                                        const std::string& code,
                                        const std::string& entry,
                                        std::string& why,
                                        const std::vector<std::string>& others) {
  LoadedKernel kernel;
  const auto refused = [&](const char* what, CUresult result) {
    why = std::string(what) + ": " + error_text(api, result);
    return std::nullopt;
  };
  CUmodule module = nullptr;
  if (const CUresult result = api.cuModuleLoadData(&module, code.c_str()); result != CUDA_SUCCESS)
    return refused("the module cannot be loaded", result);
  kernel.module = Module(api, module);
  if (!find_function(api, module, entry, kernel, why)) return std::nullopt;
  for (const std::string& other : others) {
    if (!find_function(api, module, other, kernel.others.emplace_back(), why)) return std::nullopt;
  }
  unsigned functions = 0;
  if (const CUresult result = api.cuModuleGetFunctionCount(&functions, module);
      result != CUDA_SUCCESS)
    return refused("the module's kernels cannot be counted", result);
  if (functions != 1 + others.size()) {
    why = "the module holds " + std::to_string(functions) + " kernels, expected " +
          (others.empty() ? "one" : std::to_string(1 + others.size()));
    return std::nullopt;
  }
  return kernel;
}

CUresult allow_dynamic_smem(const DriverApi& api, CUfunction function, std::int64_t bytes) {
  constexpr std::int64_t kAlwaysAllowed = 48 << 10;
  if (bytes <= kAlwaysAllowed) return CUDA_SUCCESS;
  return api.cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                static_cast<int>(bytes));
}

}  // namespace warpath::cuda
