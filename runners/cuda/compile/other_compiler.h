#pragma once

#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

#include "runners/cuda/compile/compile.h"
#include "runners/worker/sandbox.h"

namespace warpath::cuda {

/// A compiler beside NVRTC: programs of their own, run confined in a process for each compilation.
/// Thread-safe.
class OtherCompiler {
 public:
  virtual ~OtherCompiler() = default;
  /// Programs and versions, as part of the key of what it compiles.
  [[nodiscard]] virtual const std::string& identity() const = 0;
  /// As cuda::compile.
  [[nodiscard]] virtual CompileResult compile(const CompileRequest& request,
                                              const CompileLimits& limits,
                                              const std::stop_token& stop) const = 0;
};

/// How the programs of one compilation run, one after the other.
class CompilerRun {
 public:
  /// References must outlive it. `sandbox` may be null.
  CompilerRun(const std::filesystem::path& folder,
              std::vector<std::string> environment,
              const ProgramSandbox* sandbox,
              const CompileLimits& limits,
              const std::stop_token& stop);

  /// Runs `argv` in the folder, in what is left of the time. True if it ended with code 0; false
  /// otherwise, and unless it ended by itself, `result` then has the status and the log.
  [[nodiscard]] bool run(const std::vector<std::string>& argv);
  /// The last program ended by itself, with another code than 0.
  [[nodiscard]] bool refused() const { return refused_; }
  [[nodiscard]] const std::string& output() const { return output_; }
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }

  CompileResult result;  ///< its `seconds` are kept up to date

 private:
  const std::filesystem::path& folder_;
  const std::vector<std::string> environment_;
  const ProgramSandbox* const sandbox_;
  const CompileLimits& limits_;
  const std::stop_token& stop_;
  std::string output_;
  bool refused_ = false;
};

}  // namespace warpath::cuda
