#include "runners/cuda/driver/driver.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "runners/cuda/driver/device.h"
#include "runners/cuda/driver/fenced_memory.h"

using warpath::Error;
using warpath::cuda::Device;
using warpath::cuda::DriverApi;
using warpath::cuda::FencedMemory;

namespace {

/// What a driver without a GPU behind it remembers. Function pointers carry no state, so there is
/// one, reset by fake_driver().
struct FakeState {
  std::vector<std::string> calls;
  std::set<std::string> failing;  ///< functions that answer with an error
  std::size_t granule = 2 << 20;
  int parameters = 3;
  unsigned functions = 1;
};
FakeState state;

CUresult answer(const char* call) {
  state.calls.emplace_back(call);
  return state.failing.contains(call) ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

int count(const std::string& call) {
  return static_cast<int>(std::count(state.calls.begin(), state.calls.end(), call));
}

/// Any pointer-like handle.
template <class Handle>
Handle handle(std::uintptr_t value) {
  return reinterpret_cast<Handle>(value);  // NOLINT: opaque to everyone but the driver
}

void fake_memory(DriverApi& api) {
  api.cuMemAlloc = [](CUdeviceptr* out, std::size_t) { return *out = 0x1000, answer("alloc"); };
  api.cuMemFree = [](CUdeviceptr) { return answer("free"); };
  api.cuMemGetAllocationGranularity = [](std::size_t* out, const CUmemAllocationProp*,
                                         CUmemAllocationGranularity_flags) {
    return *out = state.granule, answer("granularity");
  };
  api.cuMemAddressReserve = [](CUdeviceptr* out, std::size_t, std::size_t, CUdeviceptr,
                               unsigned long long) {
    const CUresult result = answer("reserve");
    if (result == CUDA_SUCCESS) *out = 0x100000000;
    return result;
  };
  api.cuMemAddressFree = [](CUdeviceptr, std::size_t) { return answer("unreserve"); };
  api.cuMemCreate = [](CUmemGenericAllocationHandle* out, std::size_t, const CUmemAllocationProp*,
                       unsigned long long) {
    const CUresult result = answer("create");
    if (result == CUDA_SUCCESS) *out = 77;
    return result;
  };
  api.cuMemRelease = [](CUmemGenericAllocationHandle) { return answer("release"); };
  api.cuMemMap = [](CUdeviceptr, std::size_t, std::size_t, CUmemGenericAllocationHandle,
                    unsigned long long) { return answer("map"); };
  api.cuMemUnmap = [](CUdeviceptr, std::size_t) { return answer("unmap"); };
  api.cuMemSetAccess = [](CUdeviceptr, std::size_t, const CUmemAccessDesc*, std::size_t) {
    return answer("access");
  };
}

void fake_module(DriverApi& api) {
  api.cuModuleLoadData = [](CUmodule* out, const void*) {
    return *out = handle<CUmodule>(0x10), answer("load");
  };
  api.cuModuleUnload = [](CUmodule) { return answer("unload"); };
  api.cuModuleGetFunction = [](CUfunction* out, CUmodule, const char*) {
    return *out = handle<CUfunction>(0x20), answer("function");
  };
  api.cuModuleGetFunctionCount = [](unsigned* out, CUmodule) {
    return *out = state.functions, answer("function_count");
  };
  api.cuFuncGetParamInfo = [](CUfunction, std::size_t index, std::size_t* offset,
                              std::size_t* size) {
    if (index >= static_cast<std::size_t>(state.parameters)) return CUDA_ERROR_INVALID_VALUE;
    *offset = index * 8;
    *size = 8;
    return CUDA_SUCCESS;
  };
  api.cuFuncGetAttribute = [](int* out, CUfunction_attribute attribute, CUfunction) {
    return *out = 100 + attribute, answer("attribute");
  };
  api.cuFuncSetAttribute = [](CUfunction, CUfunction_attribute, int) {
    return answer("set_attribute");
  };
}

DriverApi fake_driver() {
  state = {};
  DriverApi api;
  api.cuGetErrorName = [](CUresult result, const char** out) {
    return *out = "CUDA_ERROR_TEST",
           result == CUDA_ERROR_UNKNOWN ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
  };
  api.cuGetErrorString = [](CUresult, const char** out) { return *out = "a test", CUDA_SUCCESS; };
  api.cuInit = [](unsigned) { return answer("init"); };
  api.cuDeviceGet = [](CUdevice* out, int index) { return *out = index, answer("device"); };
  api.cuDevicePrimaryCtxRetain = [](CUcontext* out, CUdevice) {
    return *out = handle<CUcontext>(0x30), answer("retain");
  };
  api.cuDevicePrimaryCtxRelease = [](CUdevice) { return answer("ctx_release"); };
  api.cuCtxSetCurrent = [](CUcontext) { return answer("current"); };
  api.cuDeviceGetAttribute = [](int* out, CUdevice_attribute which, CUdevice) {
    *out = which == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR   ? 9
           : which == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR ? 0
                                                                   : 64;
    return answer("device_attribute");
  };
  api.cuEventCreate = [](CUevent* out, unsigned) {
    return *out = handle<CUevent>(0x40), answer("event");
  };
  api.cuEventDestroy = [](CUevent) { return answer("event_destroy"); };
  fake_memory(api);
  fake_module(api);
  return api;
}

}  // namespace

TEST_SUITE_BEGIN("driver");

TEST_CASE("a missing driver is one line, not a failure") {
  std::string why;
  CHECK_FALSE(warpath::cuda::load_driver(why, "libwarpath_absent.so.1"));
  CHECK(why.find("libwarpath_absent.so.1") != std::string::npos);
  why.clear();
  CHECK_FALSE(warpath::cuda::load_driver(why, "libm.so.6"));
  CHECK(why.find("libm.so.6 lacks cuInit") != std::string::npos);
}

TEST_CASE("a handle is released once, by its last owner") {
  const DriverApi api = fake_driver();
  {
    auto first = warpath::cuda::make_event(api);
    auto second = std::move(first);
    CHECK_FALSE(first);  // NOLINT(bugprone-use-after-move): moved-from is empty by contract
    CHECK(second);
    CHECK(count("event_destroy") == 0);
    second = warpath::cuda::make_event(api);
    CHECK(count("event_destroy") == 1);
  }
  CHECK(count("event_destroy") == 2);
}

TEST_CASE("a release that fails is counted and nothing more") {
  const DriverApi api = fake_driver();
  const std::uint64_t before = warpath::cuda::failed_releases();
  {
    const auto memory = warpath::cuda::allocate(api, 100);
    state.failing = {"free"};
  }
  CHECK(warpath::cuda::failed_releases() == before + 1);
}

TEST_CASE("errors carry the driver's words, or the number where it has none") {
  const DriverApi api = fake_driver();
  CHECK(error_text(api, CUDA_ERROR_INVALID_VALUE) == "CUDA_ERROR_TEST: a test");
  CHECK(error_text(api, CUDA_ERROR_UNKNOWN) == "CUDA error 999");
  state.failing = {"alloc"};
  CHECK_THROWS_WITH_AS(static_cast<void>(warpath::cuda::allocate(api, 1)),
                       "cannot allocate device memory: CUDA_ERROR_TEST: a test", Error);
}

TEST_CASE(
    "a device retains its context once and gives it back, also when it cannot be made current") {
  const DriverApi api = fake_driver();
  {
    const Device device(api, 0);
    CHECK(device.arch() == "sm_90a");
    CHECK(device.limits().multiprocessors == 64);
  }
  CHECK(count("retain") == 1);
  CHECK(count("ctx_release") == 1);
  state.calls.clear();
  state.failing = {"current"};
  CHECK_THROWS_AS(Device(api, 0), Error);
  CHECK(count("retain") == count("ctx_release"));
  state.failing = {"device"};
  CHECK_THROWS_AS(Device(api, 3), Error);
}

TEST_CASE("a fenced buffer touches the fence on the side asked for") {
  const DriverApi api = fake_driver();
  {
    const FencedMemory right(api, 0, 1000, FencedMemory::Align::right, 16);
    CHECK(right.buffer() % 16 == 0);
    CHECK(right.mapped() + right.mapped_bytes() - (right.buffer() + 1000) < 16);
    const FencedMemory exact(api, 0, 1024, FencedMemory::Align::right, 256);
    CHECK(exact.buffer() + 1024 == exact.mapped() + exact.mapped_bytes());
    const FencedMemory left(api, 0, 1000, FencedMemory::Align::left, 256);
    CHECK(left.buffer() == left.mapped());
    CHECK(FencedMemory(api, 0, 0, FencedMemory::Align::right, 1).mapped_bytes() == state.granule);
    CHECK(FencedMemory(api, 0, (2U << 20U) + 1, FencedMemory::Align::left, 1).mapped_bytes() ==
          2 * state.granule);
  }
  CHECK(count("reserve") == 5);
  CHECK(count("unreserve") == 5);
  CHECK(count("release") == 5);
  CHECK(count("unmap") == 5);
}

TEST_CASE("a fenced buffer that fails half-way leaves nothing behind") {
  for (const char* failing : {"granularity", "reserve", "create", "map", "access"}) {
    CAPTURE(failing);
    const DriverApi api = fake_driver();
    state.failing = {failing};
    CHECK_THROWS_AS(FencedMemory(api, 0, 1000, FencedMemory::Align::right, 16), Error);
    const auto made = [&](const char* call) {
      return count(call) - (std::string(failing) == call ? 1 : 0);
    };
    CHECK(made("reserve") == count("unreserve"));
    CHECK(made("create") == count("release"));
    CHECK(made("map") == count("unmap"));
  }
}

TEST_CASE("a kernel is loaded with its parameters and attributes, or the candidate is to blame") {
  const DriverApi api = fake_driver();
  std::string why;
  {
    const auto kernel = warpath::cuda::load_kernel(api, "cubin", "k", why);
    REQUIRE(kernel);
    CHECK(kernel->parameter_offsets == std::vector<std::size_t>{0, 8, 16});
    CHECK(kernel->registers == 100 + CU_FUNC_ATTRIBUTE_NUM_REGS);
    CHECK(count("unload") == 0);
  }
  CHECK(count("unload") == 1);
  for (const char* failing : {"load", "function", "function_count", "attribute"}) {
    state.calls.clear();
    state.failing = {failing};
    CHECK_FALSE(warpath::cuda::load_kernel(api, "cubin", "k", why));
    CHECK(why.find("CUDA_ERROR_TEST") != std::string::npos);
    CHECK(count("unload") == (std::string(failing) == "load" ? 0 : 1));
  }
  state.failing.clear();
  state.functions = 2;
  CHECK_FALSE(warpath::cuda::load_kernel(api, "cubin", "k", why));
  CHECK(why == "the module holds 2 kernels, expected one");
}

TEST_CASE("dynamic shared memory is opted in only beyond what every kernel has") {
  const DriverApi api = fake_driver();
  CHECK(warpath::cuda::allow_dynamic_smem(api, nullptr, 48 << 10) == CUDA_SUCCESS);
  CHECK(count("set_attribute") == 0);
  CHECK(warpath::cuda::allow_dynamic_smem(api, nullptr, (48 << 10) + 1) == CUDA_SUCCESS);
  CHECK(count("set_attribute") == 1);
}

TEST_SUITE_END();
