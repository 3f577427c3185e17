#pragma once

#include <memory>
#include <stop_token>
#include <string>

#include "engine/base/temporary_folder.h"
#include "runners/cuda/compile/other_compiler.h"
#include "runners/worker/sandbox.h"

namespace warpath::cuda {

/// NVIDIA's offline compiler, for text that NVRTC refuses: functions of the host, headers of the
/// C++ library, device-wide algorithms of CUB. It and the programs that it starts run confined
/// (ProgramSandbox), with an environment of their own. Thread-safe.
class Nvcc final : public OtherCompiler {
 public:
  /// `program`: a path, or empty for toolkit_program("nvcc"). Throws Error(environment) if there is
  /// none, or if it compiles no empty kernel.
  explicit Nvcc(const std::string& program);

  [[nodiscard]] const std::string& identity() const override { return identity_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  /// It can read the toolkit's and the system's files only.
  [[nodiscard]] bool confined() const {
    return sandbox_ != nullptr && sandbox_->sandbox().blocks_files();
  }

  /// As cuda::compile: first to PTX, which also tells the entry's name, then that PTX to machine
  /// code. `limits` apply to both together.
  [[nodiscard]] CompileResult compile(const CompileRequest& request,
                                      const CompileLimits& limits,
                                      const std::stop_token& stop = {}) const override;

 private:
  [[nodiscard]] std::string try_out() const;

  std::string path_, identity_;
  TemporaryFolder scratch_{"nvcc"};
  std::unique_ptr<const ProgramSandbox> sandbox_;  // null: it works only without
};

/// The translation unit for nvcc: `source` behind the request's macros, as text since nvcc passes
/// words to a shell, and before a variable of the device that holds the kernel's address, which
/// makes an instance of a template and names it in the PTX. Lines are numbered as in `source`.
[[nodiscard]] std::string nvcc_text(const CompileRequest& request, const std::string& source);

/// Takes that variable out of `ptx` and returns the kernel's name there; empty if there is none.
[[nodiscard]] std::string take_entry_name(std::string& ptx);

}  // namespace warpath::cuda
