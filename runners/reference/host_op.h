#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/registry.h"
#include "engine/spec/compare.h"
#include "engine/spec/spec.h"
#include "engine/spec/tensor.h"
#include "runners/reference/reference.h"

namespace warpath {

/// One parameter of a host operation, bound in a spec's `operands` to an argument name or to
/// literal text.
struct Operand {
  enum class Kind : std::uint8_t {
    tensor,  ///< an input or inout argument
    output,  ///< an output or inout argument
    number,  ///< a scalar argument or a literal
    integer,
    flag,  ///< true, false, 1 or 0, likewise
    word,  ///< a literal, one of the words in `help`, which lists them as "a|b|c"
  };
  std::string_view name;
  Kind kind;
  bool required;
  std::string_view help;
};

class HostOp;

/// The operands of one use of an operation, resolved for one workload. Before attach() only shapes
/// and scalars are known, which is enough for HostOp::check.
class OpCall {
 public:
  using Shape = std::vector<std::int64_t>;

  /// Resolves every operand. Throws Error(bad_input) on an unknown, missing or mistyped one, or if
  /// an output of the spec is bound to none. `op`, `spec` and `workload` must outlive the call.
  OpCall(const HostOp& op,
         const ReferenceHostOp& use,
         const KernelSpec& spec,
         const Workload& workload,
         const ScalarMap& scalars);

  /// Attaches the values before the launch and prepares the outputs: inout arguments start from
  /// their value, others from 0.
  void attach(const TensorMap& tensors);

  [[nodiscard]] bool has(std::string_view operand) const;
  [[nodiscard]] const Shape& shape(std::string_view operand) const;
  [[nodiscard]] DType dtype(std::string_view operand) const;
  [[nodiscard]] double number(std::string_view operand, double fallback) const;
  [[nodiscard]] std::int64_t integer(std::string_view operand, std::int64_t fallback) const;
  [[nodiscard]] bool flag(std::string_view operand, bool fallback) const;
  [[nodiscard]] std::string word(std::string_view operand, std::string_view fallback) const;

  [[nodiscard]] const Tensor& in(std::string_view operand) const;         ///< after attach()
  [[nodiscard]] Tensor& out(std::string_view operand);                    ///< after attach()
  [[nodiscard]] TensorMap take_outputs() { return std::move(outputs_); }  ///< by argument name

  /// "SPEC: reference OP, workload W, operand O: got VALUE, expected EXPECTED"
  [[nodiscard]] Error problem(std::string_view operand,
                              std::string_view value,
                              std::string_view expected) const;
  /// Throws problem(operand, its shape, expected) unless `holds`.
  void require(bool holds, std::string_view operand, std::string_view expected) const;
  /// require() that the tensor's shape is exactly `expected`.
  void require_shape(std::string_view operand, const Shape& expected) const;

 private:
  struct Bound {
    std::string argument;  // tensors
    DType dtype = DType::f32;
    Shape shape;
    std::variant<std::monostate, std::int64_t, double, bool, std::string> value;  // others
  };
  [[nodiscard]] Bound bind(const Operand& operand,
                           const std::string& text,
                           const ScalarMap& scalars) const;
  [[nodiscard]] Bound bind_tensor(const Operand& operand, const std::string& text) const;
  [[nodiscard]] const Bound* find(std::string_view operand) const;

  std::string op_;
  const KernelSpec* spec_;
  const Workload* workload_;
  std::map<std::string, Bound, std::less<>> bound_;
  const TensorMap* inputs_ = nullptr;
  TensorMap outputs_;
};

/// A built-in operation in fp64, which a spec may name as its reference. Stateless; results are
/// rounded once, to the output's type, and do not depend on the number of cores.
class HostOp {
 public:
  virtual ~HostOp() = default;
  [[nodiscard]] virtual std::span<const Operand> operands() const = 0;
  /// Throws Error(bad_input) unless shapes and scalars match.
  virtual void check(const OpCall& call) const = 0;
  /// Computes the outputs of a checked call. Throws Error(bad_input) on tensor values for which no
  /// result is defined.
  virtual void run(OpCall& call) const = 0;
};
using HostOpRegistry = Registry<HostOp>;

}  // namespace warpath
