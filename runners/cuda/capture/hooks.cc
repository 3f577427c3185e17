// The hooks: each calls the driver's own function and tells the recorder. A call that the recorder
// or the driver itself makes on the way is not recorded.

#include <algorithm>
#include <cstdint>
#include <span>

#include "runners/cuda/capture/driver_symbols.h"
#include "runners/cuda/capture/recorder.h"

namespace warpath::capture {
namespace {

/// True on a thread while one of its calls is recorded.
thread_local bool recording = false;

class Recording {
 public:
  Recording() : outermost_(!recording) { recording = true; }
  ~Recording() { recording = !outermost_; }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  [[nodiscard]] bool outermost() const { return outermost_; }

 private:
  bool outermost_;
};

/// `real(arguments...)`, and then `note(recorder)` if it succeeded.
template <class Real, class Note, class... Arguments>
CUresult noted(Real real, const Note& note, Arguments... arguments) {
  if (real == nullptr) return CUDA_ERROR_NOT_FOUND;
  const Recording outer;
  const CUresult result = real(arguments...);
  if (result == CUDA_SUCCESS && outer.outermost()) note(Recorder::instance());
  return result;
}

/// `note(recorder)` and then the call: what is given up may be given to another thread right after.
template <class Real, class Note, class... Arguments>
CUresult noted_first(Real real, const Note& note, Arguments... arguments) {
  if (real == nullptr) return CUDA_ERROR_NOT_FOUND;
  const Recording outer;
  if (outer.outermost()) note(Recorder::instance());
  return real(arguments...);
}

template <class Real, class... Arguments>
CUresult freed(Real real, std::uint64_t address, Arguments... arguments) {
  const auto note = [&](Recorder& recorder) {
    recorder.collect();
    recorder.freed(address);
  };
  return noted_first(real, note, arguments...);
}

/// The names of all kernels that `owner` enumerated.
template <class Kernel, class NameOf, class Owner>
void note_names(
    Recorder& recorder, std::span<Kernel> kernels, NameOf name_of, Owner owner, bool is_kernel) {
  const char* name = nullptr;
  for (const Kernel one : kernels) {
    if (name_of != nullptr && name_of(&name, one) == CUDA_SUCCESS)
      recorder.named(one, owner, name, is_kernel);
  }
}

template <class Call>
CUresult launched(const Launch& launch, const Call& call) {
  const Recording outer;
  if (!outer.outermost()) return call();
  Recorder& recorder = Recorder::instance();
  const Ticket ticket = recorder.before(launch);
  const CUresult result = call();
  recorder.after(ticket, launch, result == CUDA_SUCCESS);
  recorder.collect();
  return result;
}

template <class Real>
CUresult launched_ex(
    Real real, bool of_thread, const CUlaunchConfig* c, CUfunction f, void** p, void** extra) {
  if (real == nullptr) return CUDA_ERROR_NOT_FOUND;
  if (c == nullptr) return real(c, f, p, extra);
  Launch launch{.function = f,
                .grid = {c->gridDimX, c->gridDimY, c->gridDimZ},
                .block = {c->blockDimX, c->blockDimY, c->blockDimZ},
                .dynamic_smem_bytes = c->sharedMemBytes,
                .stream = {.handle = c->hStream, .of_thread = of_thread},
                .parameters = p,
                .extra = extra};
  for (const CUlaunchAttribute& one : std::span(c->attrs, c->numAttrs)) {
    if (one.id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
      launch.cluster = {one.value.clusterDim.x, one.value.clusterDim.y, one.value.clusterDim.z};
  }
  return launched(launch, [&] { return real(c, f, p, extra); });
}

std::uint64_t number(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer);
}

/// Counts and times that are not written yet, when the process ends.
__attribute__((destructor)) void finish() {
  const Recording outer;
  if (outer.outermost()) Recorder::instance().finish();
}

}  // namespace
}  // namespace warpath::capture

using namespace warpath::capture;

// The macros below repeat a hook for the forms of a function that differ by a suffix.
#define WARPATH_HOOK extern "C" __attribute__((visibility("default"))) CUresult

// Code and names.

WARPATH_HOOK cuModuleLoad(CUmodule* module, const char* file) {
  return noted(
      WARPATH_DRIVER(cuModuleLoad), [&](Recorder& r) { r.image_file(*module, file); }, module,
      file);
}
WARPATH_HOOK cuModuleLoadData(CUmodule* module, const void* image) {
  return noted(
      WARPATH_DRIVER(cuModuleLoadData), [&](Recorder& r) { r.image(*module, image); }, module,
      image);
}
WARPATH_HOOK cuModuleLoadDataEx(
    CUmodule* module, const void* image, unsigned count, CUjit_option* options, void** values) {
  return noted(
      WARPATH_DRIVER(cuModuleLoadDataEx), [&](Recorder& r) { r.image(*module, image); }, module,
      image, count, options, values);
}
WARPATH_HOOK cuModuleLoadFatBinary(CUmodule* module, const void* image) {
  return noted(
      WARPATH_DRIVER(cuModuleLoadFatBinary), [&](Recorder& r) { r.image(*module, image); }, module,
      image);
}
WARPATH_HOOK cuModuleUnload(CUmodule module) {
  return noted_first(
      WARPATH_DRIVER(cuModuleUnload), [&](Recorder& r) { r.unloaded(module); }, module);
}
WARPATH_HOOK cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  return noted(
      WARPATH_DRIVER(cuModuleGetFunction),
      [&](Recorder& r) { r.named(*function, module, name, false); }, function, module, name);
}
WARPATH_HOOK cuModuleEnumerateFunctions(CUfunction* functions, unsigned count, CUmodule module) {
  const auto note = [&](Recorder& r) {
    note_names(r, std::span(functions, count), WARPATH_DRIVER(cuFuncGetName), module, false);
  };
  return noted(WARPATH_DRIVER(cuModuleEnumerateFunctions), note, functions, count, module);
}
WARPATH_HOOK cuLibraryLoadData(CUlibrary* library,
                               const void* code,
                               CUjit_option* options,
                               void** values,
                               unsigned count,
                               CUlibraryOption* library_options,
                               void** library_values,
                               unsigned library_count) {
  return noted(
      WARPATH_DRIVER(cuLibraryLoadData), [&](Recorder& r) { r.image(*library, code); }, library,
      code, options, values, count, library_options, library_values, library_count);
}
WARPATH_HOOK cuLibraryLoadFromFile(CUlibrary* library,
                                   const char* file,
                                   CUjit_option* options,
                                   void** values,
                                   unsigned count,
                                   CUlibraryOption* library_options,
                                   void** library_values,
                                   unsigned library_count) {
  return noted(
      WARPATH_DRIVER(cuLibraryLoadFromFile), [&](Recorder& r) { r.image_file(*library, file); },
      library, file, options, values, count, library_options, library_values, library_count);
}
WARPATH_HOOK cuLibraryUnload(CUlibrary library) {
  return noted_first(
      WARPATH_DRIVER(cuLibraryUnload), [&](Recorder& r) { r.unloaded(library); }, library);
}
WARPATH_HOOK cuLibraryGetKernel(CUkernel* kernel, CUlibrary library, const char* name) {
  return noted(
      WARPATH_DRIVER(cuLibraryGetKernel),
      [&](Recorder& r) { r.named(*kernel, library, name, true); }, kernel, library, name);
}
WARPATH_HOOK cuLibraryEnumerateKernels(CUkernel* kernels, unsigned count, CUlibrary library) {
  const auto note = [&](Recorder& r) {
    note_names(r, std::span(kernels, count), WARPATH_DRIVER(cuKernelGetName), library, true);
  };
  return noted(WARPATH_DRIVER(cuLibraryEnumerateKernels), note, kernels, count, library);
}
WARPATH_HOOK cuLibraryGetModule(CUmodule* module, CUlibrary library) {
  return noted(
      WARPATH_DRIVER(cuLibraryGetModule), [&](Recorder& r) { r.same_image(library, *module); },
      module, library);
}
WARPATH_HOOK cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
  return noted(
      WARPATH_DRIVER(cuKernelGetFunction), [&](Recorder& r) { r.same_kernel(kernel, *function); },
      function, kernel);
}

// Memory.

WARPATH_HOOK cuMemAlloc_v2(CUdeviceptr* out, std::size_t bytes) {
  return noted(
      WARPATH_DRIVER(cuMemAlloc_v2), [&](Recorder& r) { r.allocated(*out, bytes); }, out, bytes);
}
WARPATH_HOOK cuMemAllocPitch_v2(
    CUdeviceptr* out, std::size_t* pitch, std::size_t width, std::size_t height, unsigned element) {
  return noted(
      WARPATH_DRIVER(cuMemAllocPitch_v2), [&](Recorder& r) { r.allocated(*out, *pitch * height); },
      out, pitch, width, height, element);
}
WARPATH_HOOK cuMemAllocManaged(CUdeviceptr* out, std::size_t bytes, unsigned flags) {
  return noted(
      WARPATH_DRIVER(cuMemAllocManaged), [&](Recorder& r) { r.allocated(*out, bytes); }, out, bytes,
      flags);
}
WARPATH_HOOK cuMemAllocHost_v2(void** out, std::size_t bytes) {
  return noted(
      WARPATH_DRIVER(cuMemAllocHost_v2), [&](Recorder& r) { r.allocated(number(*out), bytes); },
      out, bytes);
}
WARPATH_HOOK cuMemHostAlloc(void** out, std::size_t bytes, unsigned flags) {
  return noted(
      WARPATH_DRIVER(cuMemHostAlloc), [&](Recorder& r) { r.allocated(number(*out), bytes); }, out,
      bytes, flags);
}
#define WARPATH_FORM(function)                                                                \
  WARPATH_HOOK function(CUdeviceptr* out, std::size_t bytes, CUstream stream) {               \
    return noted(                                                                             \
        WARPATH_DRIVER(function), [&](Recorder& r) { r.allocated(*out, bytes); }, out, bytes, \
        stream);                                                                              \
  }
WARPATH_FORM(cuMemAllocAsync)
WARPATH_FORM(cuMemAllocAsync_ptsz)
#undef WARPATH_FORM
#define WARPATH_FORM(function)                                                                     \
  WARPATH_HOOK function(CUdeviceptr* out, std::size_t bytes, CUmemoryPool pool, CUstream stream) { \
    return noted(                                                                                  \
        WARPATH_DRIVER(function), [&](Recorder& r) { r.allocated(*out, bytes); }, out, bytes,      \
        pool, stream);                                                                             \
  }
WARPATH_FORM(cuMemAllocFromPoolAsync)
WARPATH_FORM(cuMemAllocFromPoolAsync_ptsz)
#undef WARPATH_FORM
WARPATH_HOOK cuMemMap(CUdeviceptr address,
                      std::size_t bytes,
                      std::size_t offset,
                      CUmemGenericAllocationHandle handle,
                      unsigned long long flags) {
  return noted(
      WARPATH_DRIVER(cuMemMap), [&](Recorder& r) { r.allocated(address, bytes); }, address, bytes,
      offset, handle, flags);
}

WARPATH_HOOK cuMemFree_v2(CUdeviceptr address) {
  return freed(WARPATH_DRIVER(cuMemFree_v2), address, address);
}
WARPATH_HOOK cuMemFreeHost(void* address) {
  return freed(WARPATH_DRIVER(cuMemFreeHost), number(address), address);
}
WARPATH_HOOK cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
  return freed(WARPATH_DRIVER(cuMemFreeAsync), address, address, stream);
}
WARPATH_HOOK cuMemFreeAsync_ptsz(CUdeviceptr address, CUstream stream) {
  return freed(WARPATH_DRIVER(cuMemFreeAsync_ptsz), address, address, stream);
}
WARPATH_HOOK cuMemUnmap(CUdeviceptr address, std::size_t bytes) {
  return freed(WARPATH_DRIVER(cuMemUnmap), address, address, bytes);
}

// Launches, and what waits for them.

#define WARPATH_FORM(function)                                                        \
  WARPATH_HOOK function(CUstream stream) {                                            \
    return noted(WARPATH_DRIVER(function), [](Recorder& r) { r.collect(); }, stream); \
  }
WARPATH_FORM(cuStreamSynchronize)
WARPATH_FORM(cuStreamSynchronize_ptsz)
#undef WARPATH_FORM
#define WARPATH_FORM(function)                                                             \
  WARPATH_HOOK function(CUgraphExec graph, CUstream stream) {                              \
    return noted(                                                                          \
        WARPATH_DRIVER(function), [](Recorder& r) { r.graph_launched(); }, graph, stream); \
  }
WARPATH_FORM(cuGraphLaunch)
WARPATH_FORM(cuGraphLaunch_ptsz)
#undef WARPATH_FORM

#define WARPATH_FORM(symbol, on_thread)                                                       \
  WARPATH_HOOK symbol(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,       \
                      unsigned by, unsigned bz, unsigned smem, CUstream stream, void** p,     \
                      void** extra) {                                                         \
    const auto real = WARPATH_DRIVER(symbol);                                                 \
    if (real == nullptr) return CUDA_ERROR_NOT_FOUND;                                         \
    return launched(Launch{.function = f,                                                     \
                           .grid = {gx, gy, gz},                                              \
                           .block = {bx, by, bz},                                             \
                           .dynamic_smem_bytes = smem,                                        \
                           .stream = {.handle = stream, .of_thread = on_thread},              \
                           .parameters = p,                                                   \
                           .extra = extra},                                                   \
                    [&] { return real(f, gx, gy, gz, bx, by, bz, smem, stream, p, extra); }); \
  }
WARPATH_FORM(cuLaunchKernel, false)
WARPATH_FORM(cuLaunchKernel_ptsz, true)
#undef WARPATH_FORM
#define WARPATH_FORM(symbol, on_thread)                                                     \
  WARPATH_HOOK symbol(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,     \
                      unsigned by, unsigned bz, unsigned smem, CUstream stream, void** p) { \
    const auto real = WARPATH_DRIVER(symbol);                                               \
    if (real == nullptr) return CUDA_ERROR_NOT_FOUND;                                       \
    return launched(Launch{.function = f,                                                   \
                           .grid = {gx, gy, gz},                                            \
                           .block = {bx, by, bz},                                           \
                           .dynamic_smem_bytes = smem,                                      \
                           .stream = {.handle = stream, .of_thread = on_thread},            \
                           .parameters = p},                                                \
                    [&] { return real(f, gx, gy, gz, bx, by, bz, smem, stream, p); });      \
  }
WARPATH_FORM(cuLaunchCooperativeKernel, false)
WARPATH_FORM(cuLaunchCooperativeKernel_ptsz, true)
#undef WARPATH_FORM
WARPATH_HOOK cuLaunchKernelEx(const CUlaunchConfig* c, CUfunction f, void** p, void** extra) {
  return launched_ex(WARPATH_DRIVER(cuLaunchKernelEx), false, c, f, p, extra);
}
WARPATH_HOOK cuLaunchKernelEx_ptsz(const CUlaunchConfig* c, CUfunction f, void** p, void** extra) {
  return launched_ex(WARPATH_DRIVER(cuLaunchKernelEx_ptsz), true, c, f, p, extra);
}
