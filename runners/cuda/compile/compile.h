#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/plugin/outcome.h"
#include "engine/spec/spec.h"
#include "runners/cuda/compile/nvrtc.h"

namespace warpath::cuda {

/// The inputs of one compilation; with the toolkit's version they determine its result.
struct CompileRequest {
  std::string source;
  std::string kernel;                ///< entry or template instantiation ("row_sum<float, 4>")
  std::string arch;                  ///< "sm_90a"
  std::vector<std::string> options;  ///< of spec, variant and tunables; see compile_options.h
  std::vector<Header> headers{};     ///< of the spec's libraries, beside the compiler's own
  // not part of a message to a worker, which is NVRTC's:
  DeviceCompiler compiler = DeviceCompiler::nvrtc;  ///< of CUDA C++
  KernelType language = KernelType::cuda;           ///< of `source`
  /// Triton: what is passed, in order, as Triton writes types ("*fp16", "i32"); those of addresses
  /// and integers that are multiples of 16 end with ":16".
  std::vector<std::string> parameters{};
  std::int64_t threads_per_block = 0;  ///< Triton: 32 * num_warps
};

/// Resource usage of the entry as reported by ptxas.
struct ResourceUsage {
  int registers = 0;                   ///< per thread
  std::int64_t static_smem_bytes = 0;  ///< per block
  std::int64_t stack_bytes = 0;        ///< local memory per thread, including spills
  std::int64_t spill_store_bytes = 0;  ///< per thread
  std::int64_t spill_load_bytes = 0;
  std::int64_t constant_bytes = 0;  ///< parameters and literals (bank 0), if reported
  int barriers = 0;
  bool operator==(const ResourceUsage&) const = default;
};

/// If `status` is ok, all members are set; otherwise `log` says why. compile_error: the source is
/// invalid; limits_exceeded: the compiler took more memory or output than allowed; timed_out,
/// crashed: it was killed or died.
struct CompileResult {
  Status status = Status::crashed;
  std::string log;  ///< from filter_log; for a compile_error from error_log
  std::string ptx;
  std::string cubin;
  std::string lowered_name;  ///< the entry's name in PTX and machine code
  ResourceUsage usage;
  double seconds = 0;  ///< compiler time only
  /// Dynamic shared memory of a block that the compiler has laid out, beside the launch plan's.
  std::int64_t dynamic_smem_bytes = 0;
  bool operator==(const CompileResult&) const = default;
};

/// A result that is `log` alone.
[[nodiscard]] CompileResult failed_compile(Status status, std::string log);

struct CompileLimits {
  double seconds = 20;                                   ///< per request, enforced by the parent
  std::uint64_t memory_bytes = std::uint64_t{4} << 30U;  ///< address space of a worker; 0: no limit
  std::uint64_t output_bytes = std::uint64_t{64} << 20U;  ///< PTX and machine code together
};

inline constexpr std::size_t kMaxSourceBytes = std::size_t{4} << 20U;
inline constexpr std::size_t kMaxLogBytes = 4096;

/// Compiles in this process. Never throws for bad source. Rejects options and kernel names that
/// compile_options.h rejects.
[[nodiscard]] CompileResult compile(const Nvrtc& nvrtc,
                                    const std::vector<Header>& headers,
                                    const CompileRequest& request,
                                    const CompileLimits& limits);

/// The diagnostics of the kernel's own source ("kernel.cu(12): error: ...") and the assembler's
/// errors on its PTX, at most kMaxLogBytes. All else is dropped, since a compiler quotes files that
/// it reads and only the candidate's text may be quoted.
[[nodiscard]] std::string filter_log(std::string_view log);

/// Condenses the log of a failed compilation: the first errors, each with the source line it refers
/// to and the position in it, then the number of the remaining ones. Quotes only `source`.
[[nodiscard]] std::string error_log(std::string_view log, std::string_view source);

/// Resource usage of `entry` from the "ptxas info" lines of a log; zeros where they say nothing.
[[nodiscard]] ResourceUsage parse_ptxas_info(std::string_view log, std::string_view entry);

// Messages between processes. The decoders return false unless the message is well-formed.
[[nodiscard]] std::string encode(const CompileRequest& request);
[[nodiscard]] bool decode(std::string_view frame, CompileRequest& request);
[[nodiscard]] std::string encode(const CompileResult& result);
[[nodiscard]] bool decode(std::string_view frame, CompileResult& result);

}  // namespace warpath::cuda
