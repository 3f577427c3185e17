#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "runners/cuda/capture/allocations.h"
#include "runners/cuda/capture/driver_symbols.h"
#include "runners/cuda/capture/launch_times.h"
#include "runners/cuda/capture/log_file.h"

namespace warpath::capture {

/// One launch as the application makes it.
struct Launch {
  CUfunction function = nullptr;
  std::array<std::uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1}, cluster{1, 1, 1};
  std::uint32_t dynamic_smem_bytes = 0;
  StreamName stream;
  void** parameters = nullptr;  ///< as cuLaunchKernel has them; null: `extra`
  void** extra = nullptr;
};

/// What a launch is counted under.
struct Ticket {
  std::uint32_t shape = 0;
  CUevent begun = nullptr;  ///< of a timed one
};

/// What this process does with the driver, as lines of its log. Kernels and shapes are written when
/// they are first seen, a shape before its launch; counts from time to time. Thread-safe.
///
///   {"type":"process","schema":1,"pid":P,"command":[...]}
///   {"type":"driver","version":13000,"device":"..."}
///   {"type":"image","hash":H,"kind":"ptx","file":"images/H.ptx","bytes":N}
///   {"type":"kernel","kernel":K,"name":"_Z...","image":H,"parameters":[[offset,size],...]}
///   {"type":"launch","launch":L,"kernel":K,"grid":[..],"block":[..],"cluster":[..],
///    "dynamic_smem_bytes":N,"parameters":[{"bytes":"hex","pointers":[[at,allocation,offset]]}]}
///   {"type":"time","launch":L,"nanoseconds":T}
///   {"type":"counts","counts":[[L,launches so far],...],"graph_launches":N}
class Recorder {
 public:
  /// The one of this process; it is never destroyed, since the driver may be used by destructors.
  [[nodiscard]] static Recorder& instance();

  /// Code given to the driver; the owner is the CUmodule or CUlibrary made of it.
  void image(const void* owner, const void* code);
  void image_file(const void* owner, const char* path);
  /// `kernel`, a CUfunction or CUkernel, has this name in this owner.
  void named(const void* kernel, const void* owner, const char* name, bool is_kernel);
  void same_kernel(const void* kernel, const void* function);
  void same_image(const void* library, const void* module);
  void unloaded(const void* owner);
  void allocated(std::uint64_t base, std::uint64_t bytes);
  void freed(std::uint64_t base);
  void graph_launched();

  [[nodiscard]] Ticket before(const Launch& launch);
  void after(const Ticket& ticket, const Launch& launch, bool success);
  /// Reads what times have become known.
  void collect();
  /// The end of the process: counts and times.
  void finish();

 private:
  struct Parameter {
    std::size_t offset = 0, size = 0;
  };
  struct Named {
    std::string name;
    const void* owner = nullptr;
    bool is_kernel = false;  ///< a CUkernel: other functions ask about it
  };
  struct Kernel {
    std::uint32_t id = 0;
    std::string name;
    bool parameters_known = false;
    std::vector<Parameter> parameters;
    std::unordered_map<std::string, std::uint32_t> shapes;  // by content
  };
  struct Shape {
    std::uint64_t launches = 0, begun = 0;
    std::optional<std::uint64_t> written;  // of launches, last in the log
  };
  struct Pointer {
    std::size_t at = 0;
    Allocations::Place place;
  };
  struct Value {
    std::string bytes;
    std::vector<Pointer> pointers;
  };

  Recorder();
  void forget();
  void store_image(const void* owner, std::span<const std::byte> bytes, const char* kind);
  Kernel& kernel_of(CUfunction function);
  void read_parameters(CUfunction function, bool is_kernel, Kernel& kernel) const;
  [[nodiscard]] std::vector<Value> values(const Kernel& kernel, const Launch& launch) const;
  std::uint32_t new_shape(const Kernel& kernel,
                          const Launch& launch,
                          const std::vector<Value>& values,
                          bool others);
  [[nodiscard]] std::string contents(const Kernel& kernel,
                                     const Launch& launch,
                                     const std::vector<Value>& values,
                                     std::size_t parameter);
  void write_driver();
  void write_counts(bool now);

  std::mutex mutex_;
  LogFile log_;
  std::vector<std::pair<std::string, std::size_t>> wanted_;  // kernel and parameter of contents
  Allocations allocations_;
  LaunchTimes times_;
  std::unordered_map<const void*, std::string> images_;  // hash by owner
  std::unordered_map<const void*, Named> names_;         // by CUfunction or CUkernel
  std::unordered_map<const void*, Kernel*> by_handle_;
  std::unordered_map<std::string, std::unique_ptr<Kernel>> kernels_;  // by name and image
  std::vector<Shape> shapes_;                                         // by number
  std::uint64_t graph_launches_ = 0;
  bool driver_written_ = false, finished_ = false;
  double started_ = 0, counted_ = 0;  // monotonic seconds
};

}  // namespace warpath::capture
