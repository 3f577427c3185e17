#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/plugin/outcome.h"
#include "runners/cuda/compile/nvrtc.h"

namespace warpath::cuda {

/// What one compilation needs; with the toolkit's version this decides its result.
struct CompileRequest {
  std::string source;
  std::string kernel;                ///< entry or template instantiation ("row_sum<float, 4>")
  std::string arch;                  ///< "sm_90a"
  std::vector<std::string> options;  ///< of spec, variant and tunables; see compile_options.h
};

/// What ptxas says of the entry.
struct ResourceUsage {
  int registers = 0;                   ///< a thread
  std::int64_t static_smem_bytes = 0;  ///< a block
  std::int64_t stack_bytes = 0;        ///< local memory a thread, spills included
  std::int64_t spill_store_bytes = 0;  ///< a thread
  std::int64_t spill_load_bytes = 0;
  std::int64_t constant_bytes = 0;  ///< parameters and literals (bank 0) where stated
  int barriers = 0;
  bool operator==(const ResourceUsage&) const = default;
};

/// `status` ok: everything is filled; otherwise `log` says why. compile_error: the text is wrong;
/// limits_exceeded: it takes more memory or output than allowed; timed_out, crashed: the compiler
/// was killed, or died, over it.
struct CompileResult {
  Status status = Status::crashed;
  std::string log;  ///< filter_log's; of a compile_error error_log's
  std::string ptx;
  std::string cubin;
  std::string lowered_name;  ///< the entry in PTX and machine code
  ResourceUsage usage;
  double seconds = 0;  ///< of the compiler alone
  bool operator==(const CompileResult&) const = default;
};

struct CompileLimits {
  double seconds = 20;                                    ///< a request, watched by the parent
  std::uint64_t memory_bytes = std::uint64_t{4} << 30U;   ///< address space of a worker; 0: none
  std::uint64_t output_bytes = std::uint64_t{64} << 20U;  ///< PTX and machine code together
};

inline constexpr std::size_t kMaxSourceBytes = std::size_t{4} << 20U;
inline constexpr std::size_t kMaxLogBytes = 4096;

/// Compiles in this process. Never throws for a bad source. Refuses options and kernel names that
/// compile_options.h refuses.
[[nodiscard]] CompileResult compile(const Nvrtc& nvrtc,
                                    const std::vector<Header>& headers,
                                    const CompileRequest& request,
                                    const CompileLimits& limits);

/// The lines about the kernel's own text ("kernel.cu(12): error: ...") and the assembler's errors
/// about the PTX made from it, at most kMaxLogBytes: a compiler quotes files that it reads, and
/// nothing but the candidate's text may be quoted.
[[nodiscard]] std::string filter_log(std::string_view log);

/// Of a log that says why `source` does not compile: the first errors, each with the line of the
/// source that it is about and the place in it, then how many more there are. Nothing but the
/// source is quoted.
[[nodiscard]] std::string error_log(std::string_view log, std::string_view source);

/// What the lines "ptxas info" of a log say of `entry`; zeros where they are silent.
[[nodiscard]] ResourceUsage parse_ptxas_info(std::string_view log, std::string_view entry);

// As frames between processes. The decoders return false unless the message is whole.
[[nodiscard]] std::string encode(const CompileRequest& request);
[[nodiscard]] bool decode(std::string_view frame, CompileRequest& request);
[[nodiscard]] std::string encode(const CompileResult& result);
[[nodiscard]] bool decode(std::string_view frame, CompileResult& result);

}  // namespace warpath::cuda
