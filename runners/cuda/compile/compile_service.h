#pragma once

#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "engine/base/hash.h"
#include "engine/plugin/options.h"
#include "engine/spec/spec.h"
#include "engine/spec/variant.h"
#include "runners/cuda/compile/code_cache.h"
#include "runners/cuda/compile/compile_pool.h"
#include "runners/cuda/compile/other_compiler.h"
#include "runners/cuda/options.h"

namespace warpath::cuda {

// shared by the memory cache and all who asked for it
using CodePtr = std::shared_ptr<const CompileResult>;

/// Machine code of a variant. Workloads with the same version and equal macros share it.
struct CompiledVariant {
  Status status = Status::ok;  ///< ok, or that of the first failed code
  std::string log;             ///< of that code
  /// one per version and distinct set of macros, in workload order
  std::vector<CodePtr> codes;
  std::vector<std::size_t> code_of;  ///< [workload]: index in `codes`
  /// compiler time spent now; 0: all from the cache
  double seconds = 0;
  [[nodiscard]] const CompileResult& code(std::size_t workload) const {
    return *codes[code_of[workload]];
  }
};

/// Counts of requests so far.
struct CompileServiceCounts {
  std::uint64_t requests = 0;
  std::uint64_t memory_hits = 0;
  std::uint64_t disk_hits = 0;
  std::uint64_t joined = 0;    ///< requested while an equal one was being compiled
  std::uint64_t compiled = 0;  ///< whatever the result
  double compile_seconds = 0;  ///< compiler time, summed over processes
};

struct CompileServiceOptions {
  /// absolute path; `program worker compile` is a compile worker
  std::string program;
  int workers = 1;
  CompileLimits limits;
  std::string nvcc;    ///< its program; empty: looked for when the first request needs it
  std::string python;  ///< Triton's, likewise
  std::optional<std::filesystem::path> cache_folder;  ///< nullopt: no disk cache
  std::uint64_t cache_bytes = std::uint64_t{4} << 30U;
  std::uint64_t memory_bytes = std::uint64_t{256} << 20U;  ///< limit on results kept in memory
};

/// The options of the service under `CudaOptions`. `devices`: number of cores reserved for
/// measuring.
[[nodiscard]] CompileServiceOptions service_options(const CudaOptions& options,
                                                    std::string program,
                                                    int devices);

/// The request for `variant` under `workload`: its options and its macros (meta scalars, tunables,
/// then -D options) by name. Scalars and tunables that the source does not name are left out, so
/// that variants differing only in their launch share code.
[[nodiscard]] CompileRequest request_for(const KernelSpec& spec,
                                         const Variant& variant,
                                         const Workload& workload,
                                         const std::string& arch);

/// Compiles through a cache in memory and one on disk; misses go to worker processes, started on
/// the first miss. Concurrent equal requests are merged. Thread-safe.
class CompileService {
 public:
  /// Opens NVRTC to learn its version. Throws Error(environment), naming the places searched, if it
  /// is missing or too old. An unwritable cache folder is not used; cache_problem() then says so.
  explicit CompileService(CompileServiceOptions options);
  ~CompileService();
  CompileService(const CompileService&) = delete;
  CompileService& operator=(const CompileService&) = delete;

  /// Blocks until the result is available. Invalid source is a result; a request for `stop` gives
  /// status crashed with the log "stopped". Throws Error(environment) if no worker can be started,
  /// or if a compiler that is asked for cannot be used.
  [[nodiscard]] CodePtr compile(const CompileRequest& request, const std::stop_token& stop = {});
  /// Compiles all codes that `variant` needs for `workloads` in parallel. Throws as above.
  [[nodiscard]] CompiledVariant compile(const KernelSpec& spec,
                                        const Variant& variant,
                                        std::span<const Workload* const> workloads,
                                        const std::string& arch,
                                        const std::stop_token& stop = {});

  [[nodiscard]] CompileServiceCounts counts() const;
  [[nodiscard]] const std::string& nvrtc_version() const { return nvrtc_version_; }
  [[nodiscard]] const std::string& cache_problem() const { return cache_problem_; }

 private:
  /// A request being compiled.
  struct Flight {
    Hash128 key;
    std::uint64_t id = 0;
    CodePtr result;  // null until available
    bool failed_pool = false;
  };
  // shared by all waiters and the table of running requests
  using FlightPtr = std::shared_ptr<Flight>;

  [[nodiscard]] const OtherCompiler* compiler_of(const CompileRequest& request);
  [[nodiscard]] FlightPtr begin(const CompileRequest& request);
  [[nodiscard]] CodePtr await(const FlightPtr& flight, const std::stop_token& stop);
  void submit(const FlightPtr& flight, const CompileRequest& request, const OtherCompiler* other);
  void start_pool();
  void land(const FlightPtr& flight, CodePtr result);
  void remember(const Hash128& key, const CodePtr& result);
  void collect(const std::stop_token& ending);

  const CompileServiceOptions options_;
  std::string nvrtc_path_, nvrtc_version_, compiler_identity_;
  std::vector<Header> headers_;
  std::unique_ptr<CodeCache> disk_;  // null: none
  std::string cache_problem_;

  mutable std::mutex mutex_;
  std::condition_variable_any landed_;
  std::map<Hash128, FlightPtr> flights_;
  std::map<std::uint64_t, FlightPtr> submitted_;
  std::uint64_t next_id_ = 0;
  std::list<std::pair<Hash128, CodePtr>> recent_;  // most recently used first
  std::map<Hash128, std::list<std::pair<Hash128, CodePtr>>::iterator> recent_of_;
  std::uint64_t recent_bytes_ = 0;
  CompileServiceCounts counts_;
  /// by name; made at the first request for it
  std::map<std::string, std::unique_ptr<const OtherCompiler>, std::less<>> others_;
  std::unique_ptr<CompilePool> pool_;  // null until the first miss
  std::jthread collector_;             // last: it uses everything above
};

}  // namespace warpath::cuda
