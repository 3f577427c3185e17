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
#include "runners/cuda/options.h"

namespace warpath::cuda {

// shared by the cache in memory and everyone who asked
using CodePtr = std::shared_ptr<const CompileResult>;

/// Machine code of a variant. Workloads whose macros are equal share one.
struct CompiledVariant {
  Status status = Status::ok;  ///< ok, or that of the first code that failed
  std::string log;             ///< of that code
  /// one for each distinct set of macros, in the order of the workloads
  std::vector<CodePtr> codes;
  std::vector<std::size_t> code_of;  ///< [workload]: index in `codes`
  /// of the compilers, now; 0: everything came from the cache
  double seconds = 0;
  [[nodiscard]] const CompileResult& code(std::size_t workload) const {
    return *codes[code_of[workload]];
  }
};

/// What became of the requests so far.
struct CompileServiceCounts {
  std::uint64_t requests = 0;
  std::uint64_t memory_hits = 0;
  std::uint64_t disk_hits = 0;
  std::uint64_t joined = 0;    ///< asked for while the same was being compiled
  std::uint64_t compiled = 0;  ///< with any result
  double compile_seconds = 0;  ///< of the compilers, summed over processes
};

struct CompileServiceOptions {
  /// absolute path; `program worker compile` is a compile worker
  std::string program;
  int workers = 1;
  CompileLimits limits;
  std::optional<std::filesystem::path> cache_folder;  ///< nullopt: nothing is kept on disk
  std::uint64_t cache_bytes = std::uint64_t{4} << 30U;
  std::uint64_t memory_bytes = std::uint64_t{256} << 20U;  ///< of results kept in memory
};

/// What the options of the cuda runner ask for. `devices`: how many cores are left to measuring.
[[nodiscard]] CompileServiceOptions service_options(const CudaOptions& options,
                                                    std::string program,
                                                    int devices);

/// The request for `variant` under `workload`: its options, its macros (meta scalars, tunables,
/// then -D options) by name. Scalars and tunables that the text does not name are left out, so that
/// variants which differ in the launch alone share their code.
[[nodiscard]] CompileRequest request_for(const KernelSpec& spec,
                                         const Variant& variant,
                                         const Workload& workload,
                                         const std::string& arch);

/// Compiles with a cache before it: memory, then disk, then worker processes, which are started by
/// the first miss. Equal requests under way are one. Thread-safe.
class CompileService {
 public:
  /// Opens NVRTC for its version. Throws Error(environment) if it is missing or too old, naming
  /// where it was looked for. A cache folder that cannot be written is left out; cache_problem()
  /// says so.
  explicit CompileService(CompileServiceOptions options);
  ~CompileService();
  CompileService(const CompileService&) = delete;
  CompileService& operator=(const CompileService&) = delete;

  /// Waits for the result. A text that fails is a result. Status crashed with the log "stopped"
  /// soon after `stop` is requested. Throws Error(environment) where no worker can be started.
  [[nodiscard]] CodePtr compile(const CompileRequest& request, const std::stop_token& stop = {});
  /// All codes that `variant` needs for `workloads`, compiled side by side. Throws as above.
  [[nodiscard]] CompiledVariant compile(const KernelSpec& spec,
                                        const Variant& variant,
                                        std::span<const Workload* const> workloads,
                                        const std::string& arch,
                                        const std::stop_token& stop = {});

  [[nodiscard]] CompileServiceCounts counts() const;
  [[nodiscard]] const std::string& nvrtc_version() const { return nvrtc_version_; }
  [[nodiscard]] const std::string& cache_problem() const { return cache_problem_; }
  /// What a worker said of itself; nullopt before the first one is up.
  [[nodiscard]] std::optional<WorkerHello> worker_hello() const;

 private:
  /// A request that somebody waits for.
  struct Flight {
    Hash128 key;
    std::uint64_t id = 0;
    CodePtr result;  // null until it is there
    bool failed_pool = false;
  };
  // of everyone who waits, and of the table while it is under way
  using FlightPtr = std::shared_ptr<Flight>;

  [[nodiscard]] FlightPtr begin(const CompileRequest& request);
  [[nodiscard]] CodePtr await(const FlightPtr& flight, const std::stop_token& stop);
  void submit(const FlightPtr& flight, const CompileRequest& request);
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
  std::unique_ptr<CompilePool> pool_;  // null until the first miss
  std::jthread collector_;             // last: it uses everything above
};

}  // namespace warpath::cuda
