#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/temporary_folder.h"
#include "runners/cuda/compile/other_compiler.h"

namespace warpath::cuda {

/// NVIDIA's assembler, for kernels that are written in PTX.
class Ptxas final : public OtherCompiler {
 public:
  /// That of the toolkit. Throws Error(environment) if there is none.
  Ptxas();
  [[nodiscard]] const std::string& identity() const override { return identity_; }
  [[nodiscard]] CompileResult compile(const CompileRequest& request,
                                      const CompileLimits& limits,
                                      const std::stop_token& stop) const override;

 private:
  std::string path_, identity_;
  TemporaryFolder scratch_{"ptxas"};
  std::unique_ptr<const ProgramSandbox> sandbox_;
};

/// Makes machine code of `ptx` with the assembler `program`, and fills in all of `run.result`;
/// what is wrong with the PTX becomes its log.
void assemble(const std::string& program,
              const CompileRequest& request,
              std::string ptx,
              const std::string& entry,
              const CompileLimits& limits,
              CompilerRun& run);

/// `text` with every name that an option -DNAME=VALUE of `request` gives replaced by its value.
[[nodiscard]] std::string with_values(const CompileRequest& request, std::string_view text);

/// The macros of a request by name.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> macros_of(
    const CompileRequest& request);

/// Folders of the system that programs need to start.
[[nodiscard]] std::vector<std::string> system_folders();

}  // namespace warpath::cuda
