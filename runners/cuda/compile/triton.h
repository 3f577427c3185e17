#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "engine/base/dtype.h"
#include "engine/base/temporary_folder.h"
#include "runners/cuda/compile/other_compiler.h"

namespace warpath::cuda {

/// Triton as a compiler: a Python process for each compilation makes PTX of a @triton.jit function,
/// which the assembler that comes with Triton makes machine code of. Needs no GPU.
class Triton final : public OtherCompiler {
 public:
  /// `python`: an interpreter, or empty for WARPATH_PYTHON, or python3 of PATH. Throws
  /// Error(environment) if it cannot import Triton, or if that compiles no empty kernel. Never
  /// unconfined: compiling a kernel runs its text.
  explicit Triton(const std::string& python);
  [[nodiscard]] const std::string& identity() const override { return identity_; }
  [[nodiscard]] CompileResult compile(const CompileRequest& request,
                                      const CompileLimits& limits,
                                      const std::stop_token& stop) const override;

 private:
  [[nodiscard]] std::string try_out() const;

  std::string python_, ptxas_, packages_, identity_;
  TemporaryFolder scratch_{"triton"};
  std::unique_ptr<const ProgramSandbox> sandbox_;
};

/// Triton's name of an element type: "fp16", "bf16", "i32", "u8", "i1".
[[nodiscard]] std::string triton_type(DType dtype);

/// Removes from `entry` of `ptx` the parameters beyond the first `kept`: Triton's own launcher
/// passes addresses of scratch memory there. False, with `why`, if the code uses one of them.
[[nodiscard]] bool drop_hidden_parameters(std::string& ptx,
                                          std::string_view entry,
                                          std::size_t kept,
                                          std::string& why);

}  // namespace warpath::cuda
