#include "runners/cuda/capture/driver_symbols.h"

#include <dlfcn.h>

#include <array>
#include <atomic>
#include <cstring>
#include <string_view>

#define WARPATH_EXPORT __attribute__((visibility("default")))

namespace warpath::capture {
namespace {

constexpr std::array kNames{
#define WARPATH_X(function) #function,
    WARPATH_HOOKED(WARPATH_X) WARPATH_CALLED(WARPATH_X)
#undef WARPATH_X
};
constexpr std::array kHooked{
#define WARPATH_X(function) #function,
    WARPATH_HOOKED(WARPATH_X)
#undef WARPATH_X
};

using Lookup = void* (*)(void*, const char*) noexcept;  // noexcept: or no call of it is a jump

std::array<std::atomic<void*>, kNames.size()> addresses;
std::atomic<void*> driver_handle;  // what dlsym was last asked for a hooked function of
std::atomic<Lookup> lookup;

/// The C library's dlsym, which the one below hides.
Lookup real_dlsym() noexcept {
  Lookup found = lookup.load(std::memory_order_acquire);
  for (const char* const version : {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17"}) {
    if (found != nullptr) break;
    found = reinterpret_cast<Lookup>(::dlvsym(RTLD_NEXT, "dlsym", version));
  }
  lookup.store(found, std::memory_order_release);
  return found;
}

/// The place of this library's own function of that name.
void* hook_at(std::size_t i) noexcept {
  static const std::array<void*, kHooked.size()> kHooks{
#define WARPATH_X(function) reinterpret_cast<void*>(&::function),
      WARPATH_HOOKED(WARPATH_X)
#undef WARPATH_X
  };
  return kHooks[i];
}

std::size_t hooked_index(std::string_view name) noexcept {
  std::size_t i = 0;
  while (i < kHooked.size() && name != kHooked[i]) ++i;
  return i;
}

/// In the order in which cuGetProcAddress would: a form for the thread's default stream if asked
/// for, and the newest form.
std::size_t hooked_by_flags(const char* name, cuuint64_t flags, bool newer) noexcept {
  const auto named = [&](const char* suffix) {
    std::array<char, 64> whole{};
    if (std::strlen(name) + std::strlen(suffix) >= whole.size()) return kHooked.size();
    std::strcpy(whole.data(), name);
    std::strcat(whole.data(), suffix);
    return hooked_index(whole.data());
  };
  std::size_t found = kHooked.size();
  if ((flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0) found = named("_ptsz");
  if (found == kHooked.size() && newer) found = named("_v2");
  return found == kHooked.size() ? named("") : found;
}

/// Puts the hook in the place of what the driver gave for a name.
void replace(const char* name, void** function, int version, cuuint64_t flags) noexcept {
  constexpr int kSecondForms = 3020, kSecondLookup = 12000;
  if (name == nullptr || function == nullptr || *function == nullptr) return;
  const bool lookup_itself = std::strcmp(name, "cuGetProcAddress") == 0;
  if (version < kSecondForms) return;
  const std::size_t i = hooked_by_flags(name, flags, !lookup_itself || version >= kSecondLookup);
  // a driver that takes its own address from the loader gives the hook itself
  if (i == kHooked.size() || *function == hook_at(i)) return;
  // A newer driver may have another signature under the name.
  if (version > CUDA_VERSION && *function != driver_address(static_cast<Symbol>(i))) return;
  void* none = nullptr;
  addresses[i].compare_exchange_strong(none, *function);
  *function = hook_at(i);
}

/// What a lookup of a name gives.
struct Lookedup {
  bool hooked = false;  ///< otherwise it is the C library's
  void* address = nullptr;
};

Lookedup look_up(void* handle, const char* name) noexcept {
  if (name == nullptr || name[0] != 'c' || name[1] != 'u') return {};
  const std::size_t i = hooked_index(name);
  const Lookup find = real_dlsym();
  if (i == kHooked.size() || find == nullptr) return {};
  const bool open = handle != RTLD_DEFAULT && handle != RTLD_NEXT;
  void* const found = find(open ? handle : RTLD_NEXT, name);
  if (found == nullptr) return {.hooked = true, .address = nullptr};
  if (open && found != hook_at(i)) driver_handle.store(handle, std::memory_order_release);
  void* none = nullptr;
  if (found != hook_at(i)) addresses[i].compare_exchange_strong(none, found);
  return {.hooked = true, .address = hook_at(i)};
}

}  // namespace

void* driver_address(Symbol symbol) noexcept {
  const auto i = static_cast<std::size_t>(symbol);
  void* found = addresses[i].load(std::memory_order_acquire);
  if (found != nullptr) return found;
  const Lookup find = real_dlsym();
  if (find == nullptr) return nullptr;
  found = find(RTLD_NEXT, kNames[i]);
  if (found == nullptr) {
    void* handle = driver_handle.load(std::memory_order_acquire);
    if (handle == nullptr) {
      handle = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
      driver_handle.store(handle, std::memory_order_release);
    }
    if (handle != nullptr) found = find(handle, kNames[i]);
  }
  if (found != nullptr) addresses[i].store(found, std::memory_order_release);
  return found;
}

}  // namespace warpath::capture

/// Programs that open the driver themselves find the hooks too. The last call must stay a jump:
/// what RTLD_NEXT means depends on the caller.
extern "C" WARPATH_EXPORT void* dlsym(void* __restrict handle,
                                      const char* __restrict name) noexcept {
  const auto [hooked, address] = warpath::capture::look_up(handle, name);
  if (hooked) return address;
  return warpath::capture::real_dlsym()(handle, name);
}

extern "C" WARPATH_EXPORT CUresult cuGetProcAddress(const char* name,
                                                    void** function,
                                                    int version,
                                                    cuuint64_t flags) {
  const auto real = WARPATH_DRIVER(cuGetProcAddress);
  if (real == nullptr) return CUDA_ERROR_NOT_FOUND;
  const CUresult result = real(name, function, version, flags);
  if (result == CUDA_SUCCESS) warpath::capture::replace(name, function, version, flags);
  return result;
}

extern "C" WARPATH_EXPORT CUresult cuGetProcAddress_v2(const char* name,
                                                       void** function,
                                                       int version,
                                                       cuuint64_t flags,
                                                       CUdriverProcAddressQueryResult* status) {
  const auto real = WARPATH_DRIVER(cuGetProcAddress_v2);
  if (real == nullptr) return CUDA_ERROR_NOT_FOUND;
  const CUresult result = real(name, function, version, flags, status);
  if (result == CUDA_SUCCESS) warpath::capture::replace(name, function, version, flags);
  return result;
}
