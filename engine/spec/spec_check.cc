#include "engine/spec/spec_check.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <limits>
#include <set>

#include "engine/base/ascii.h"
#include "engine/base/error.h"
#include "engine/base/format.h"
#include "engine/json/json_reader.h"
#include "engine/spec/spec_check_caller.h"
#include "engine/spec/spec_load.h"
#include "engine/spec/spec_values.h"
#include "engine/text/source_text.h"

namespace warpath {
namespace {

constexpr std::size_t kMaxNameLength = 100;
constexpr std::size_t kMaxRank = 8;
constexpr std::array<std::string_view, 8> kFlopTypes{"float64", "float32", "float16", "bfloat16",
                                                     "tf32",    "int8",    "int32",   "sfu"};

bool is_identifier(std::string_view text) {
  return !text.empty() && text.size() <= kMaxNameLength && is_word_start(text[0]) &&
         std::all_of(text.begin(), text.end(), is_word);
}

bool is_file_name(std::string_view text) {
  return !text.empty() && text.size() <= kMaxNameLength && text[0] != '.' && text[0] != '-' &&
         text.find_first_not_of(
             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") ==
             std::string_view::npos;
}

bool is_one_line(std::string_view text) {
  return !text.empty() && std::none_of(text.begin(), text.end(),
                                       [](char c) { return static_cast<unsigned char>(c) < 0x20; });
}

bool int_fits(std::int64_t value, DType dtype) {
  const DTypeInfo& type = info(dtype);
  if (type.size_bytes == 8) return type.is_signed || value >= 0;
  const auto bits = 8 * type.size_bytes;
  const std::int64_t high = (std::int64_t{1} << (type.is_signed ? bits - 1 : bits)) - 1;
  return value <= high && value >= (type.is_signed ? -high - 1 : 0);
}

std::string join(const std::set<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out.empty() ? "none" : out;
}

/// The checks of one spec, in an order such that each may rely on the ones before.
class SpecChecker {
 public:
  explicit SpecChecker(const KernelSpec& spec) : spec_(spec) {}

  void check() {
    check_kernel();
    for (std::size_t i = 0; i < spec_.io.args.size(); ++i) check_argument(i);
    check_outputs();
    check_tunables();
    check_aliases();
    check_names();
    check_tolerance();
    check_reference();
    std::set<std::string> seen;
    for (std::size_t i = 0; i < spec_.workloads.size(); ++i) check_workload(i, seen);
    if (std::none_of(spec_.workloads.begin(), spec_.workloads.end(),
                     [](const Workload& w) { return w.role == WorkloadRole::score; })) {
      fail("/kernel/workloads", "no workload of role score", "at least one workload of role score");
    }
  }

 private:
  [[noreturn]] void fail(const std::string& pointer,
                         std::string_view value,
                         std::string_view expected) const {
    throw bad_input(spec_.place(pointer), value, expected);
  }
  static std::string at(std::string_view list, std::size_t i) {
    return std::string(list) + "/" + std::to_string(i);
  }

  void check_kernel() const {
    if (!is_file_name(spec_.name))
      fail("/name", spec_.name.empty() ? "\"\"" : spec_.name,
           "a name of letters, digits, . _ - (at most 100, not starting with . or -)");
    if (!is_one_line(spec_.kernel_name))
      fail("/kernel/metadata/kernel_name", spec_.kernel_name.empty() ? "\"\"" : spec_.kernel_name,
           "the name of the kernel");
    if (spec_.source.find('\0') != std::string::npos)
      fail("/kernel", "a NUL character in the source", "text");
    for (std::size_t i = 0; i < spec_.compiler_options.size(); ++i) {
      if (!is_one_line(spec_.compiler_options[i]))
        fail(at("/kernel/metadata/compiler_options", i), spec_.compiler_options[i],
             "one option on one line");
    }
    for (std::size_t i = 0; i < spec_.name_expressions.size(); ++i) {
      if (!is_one_line(spec_.name_expressions[i]))
        fail(at("/kernel/metadata/name_expressions", i), spec_.name_expressions[i],
             "one template instantiation on one line");
    }
    if (spec_.io.args.empty()) fail("/kernel/io/args", "[]", "at least one argument");
  }

  void check_argument(std::size_t i) {
    const ArgSpec& arg = spec_.io.args[i];
    const std::string pointer = at("/kernel/io/args", i);
    if (!is_identifier(arg.name))
      fail(pointer + "/name", arg.name.empty() ? "\"\"" : arg.name, "an identifier");
    if (!names_.insert(arg.name).second)
      fail(pointer + "/name", arg.name, "a name that no other argument has");
    if (arg.type == ArgType::integer || arg.type == ArgType::boolean) scalars_.insert(arg.name);
    if (arg.type != ArgType::tensor) {
      if (arg.tensor)
        fail(pointer + "/tensor_spec", "a tensor_spec", "none, since the argument is a scalar");
      if (arg.type == ArgType::string && !arg.is_meta)
        fail(pointer + "/type", "str", "is_meta, since a kernel receives no text");
      if (arg.is_size && (arg.type != ArgType::integer || !arg.is_meta))
        fail(pointer + "/is_size", "true", "it of an int that is_meta");
      check_scalar(arg, arg.value, pointer + "/value");
      return;
    }
    if (!arg.tensor) fail(pointer, "no \"tensor_spec\"", "the key \"tensor_spec\"");
    if (arg.is_meta) fail(pointer + "/is_meta", "true", "false for a tensor");
    check_tensor(*arg.tensor, pointer + "/tensor_spec");
  }

  void check_tensor(const TensorSpec& tensor, const std::string& pointer) const {
    if (tensor.shape.size() > kMaxRank)
      fail(pointer + "/shape", std::to_string(tensor.shape.size()) + " dimensions",
           "at most 8 dimensions");
    const std::int64_t alignment = tensor.alignment_bytes;
    if (alignment < 1 || alignment > 4096 || (alignment & (alignment - 1)) != 0) {
      fail(pointer + "/alignment_bytes", std::to_string(alignment),
           "a power of two from 1 to 4096");
    }
  }

  template <class Value>
  void check_scalar(const ArgSpec& arg, const Value& value, const std::string& pointer) const {
    if (const auto* integer = std::get_if<std::int64_t>(&value)) {
      if (arg.type != ArgType::integer)
        fail(pointer, std::to_string(*integer), "a value of the argument's type");
      if (!int_fits(*integer, arg.dtype)) {
        fail(pointer, std::to_string(*integer),
             "a value that " + std::string(info(arg.dtype).name) +
                 " holds (\"dtype\" says another type)");
      }
    }
    if (const auto* real = std::get_if<double>(&value)) {
      if (arg.type != ArgType::floating)
        fail(pointer, std::to_string(*real), "a value of the argument's type");
      if (arg.dtype != DType::f64 &&
          std::abs(*real) > static_cast<double>(std::numeric_limits<float>::max())) {
        fail(pointer, std::to_string(*real),
             "a value that " + std::string(info(arg.dtype).name) + " holds");
      }
    }
    if (std::holds_alternative<bool>(value) && arg.type != ArgType::boolean)
      fail(pointer, "a boolean", "a value of the argument's type");
  }

  void check_outputs() const {
    const auto written = [](const ArgSpec& arg) {
      return arg.role == ArgRole::output || arg.role == ArgRole::inout;
    };
    if (std::none_of(spec_.io.args.begin(), spec_.io.args.end(), written)) {
      fail("/kernel/io/args", "no output", "at least one argument of role output or inout");
    }
  }

  void check_tunables() {
    for (std::size_t i = 0; i < spec_.tunables.size(); ++i) {
      const Tunable& tunable = spec_.tunables[i];
      const std::string pointer = at("/tunables", i);
      if (!is_identifier(tunable.name))
        fail(pointer + "/name", tunable.name.empty() ? "\"\"" : tunable.name, "an identifier");
      if (!names_.insert(tunable.name).second)
        fail(pointer + "/name", tunable.name, "a name that no argument and no other tunable has");
      tunables_.insert(tunable.name);
      if (tunable.values.empty()) fail(pointer + "/values", "[]", "at least one value");
      if (std::adjacent_find(tunable.values.begin(), tunable.values.end(),
                             std::greater_equal<>()) != tunable.values.end()) {
        fail(pointer + "/values", "values out of order", "ascending, distinct values");
      }
      if (!std::binary_search(tunable.values.begin(), tunable.values.end(),
                              tunable.default_value)) {
        fail(pointer + "/default", std::to_string(tunable.default_value), "one of the values");
      }
    }
  }

  void require_tensor(const std::string& name, const std::string& pointer) const {
    const ArgSpec* arg = spec_.io.find(name);
    if (arg == nullptr || arg->type != ArgType::tensor)
      fail(pointer, name, "the name of a tensor argument");
  }

  void check_aliases() const {
    for (std::size_t i = 0; i < spec_.io.may_alias.size(); ++i) {
      const auto& group = spec_.io.may_alias[i];
      const std::string pointer = at("/kernel/io/may_alias", i);
      if (group.size() < 2)
        fail(pointer, std::to_string(group.size()) + " names", "at least two tensors");
      for (std::size_t k = 0; k < group.size(); ++k) {
        require_tensor(group[k], at(pointer, k));
        if (std::count(group.begin(), group.end(), group[k]) > 1)
          fail(at(pointer, k), group[k], "each tensor once");
      }
    }
  }

  void require_names(const Expression& expression,
                     bool with_tunables,
                     const std::string& pointer) const {
    for (const std::string& name : expression.names()) {
      if (scalars_.count(name) != 0 || (with_tunables && tunables_.count(name) != 0)) continue;
      std::set<std::string> known = scalars_;
      if (with_tunables) known.insert(tunables_.begin(), tunables_.end());
      fail(pointer, expression.text(),
           "known names, which '" + name + "' is not; known: " + join(known));
    }
  }
  void require_names(const LaunchPlan& plan, const std::string& pointer) const {
    constexpr std::array<const char*, 3> kAxisNames{"x", "y", "z"};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      require_names(plan.grid[axis], true, pointer + "/grid/" + kAxisNames[axis]);
      require_names(plan.block[axis], true, pointer + "/block/" + kAxisNames[axis]);
      require_names(plan.cluster[axis], true, pointer + "/cluster/" + kAxisNames[axis]);
    }
    require_names(plan.dynamic_smem_bytes, true, pointer + "/dynamic_smem_bytes");
  }
  void require_names(const InitRule& rule, const std::string& pointer) const {
    if (rule.low) require_names(*rule.low, false, pointer + "/low");
    if (rule.high) require_names(*rule.high, false, pointer + "/high");
  }
  void require_names(const TensorSpec& tensor, const std::string& pointer) const {
    for (std::size_t k = 0; k < tensor.shape.size(); ++k)
      require_names(tensor.shape[k], false, at(pointer + "/shape", k));
    if (const auto* rule = std::get_if<InitRule>(&tensor.content))
      require_names(*rule, pointer + "/init");
  }

  /// Evaluation alone would miss a wrong name in a branch that is not taken.
  void check_names() const {
    for (std::size_t i = 0; i < spec_.io.args.size(); ++i) {
      if (spec_.io.args[i].tensor)
        require_names(*spec_.io.args[i].tensor, at("/kernel/io/args", i) + "/tensor_spec");
    }
    require_names(spec_.io.launch, "/kernel/io/launch");
    for (std::size_t i = 0; i < spec_.constraints.size(); ++i)
      require_names(spec_.constraints[i], true, at("/constraints", i));
    if (spec_.bound.bytes) require_names(*spec_.bound.bytes, false, "/bound/bytes");
    for (const auto& [type, flops] : spec_.bound.flops) {
      if (std::find(kFlopTypes.begin(), kFlopTypes.end(), type) == kFlopTypes.end()) {
        fail("/bound/flops/" + type, type,
             "one of float64 float32 float16 bfloat16 tf32 int8 int32 sfu");
      }
      require_names(flops, false, "/bound/flops/" + type);
    }
  }

  void check_tolerance() const {
    for (const auto& [output, tolerance] : spec_.tolerance) {
      const std::string pointer = "/tolerance" + (output.empty() ? "" : "/" + output);
      const ArgSpec* arg = spec_.io.find(output);
      if (!output.empty() &&
          (arg == nullptr || (arg->role != ArgRole::output && arg->role != ArgRole::inout))) {
        fail(pointer, output, "the name of an output, or default");
      }
      for (const auto& [key, value] : {std::pair("atol", tolerance.atol),
                                       {"rtol", tolerance.rtol},
                                       {"norm", tolerance.norm}}) {
        if (!(value >= 0))
          fail(pointer + "/" + key, std::to_string(value), "a number of at least 0");
      }
    }
  }

  void check_reference() const {
    if (const auto* kernel = std::get_if<ReferenceKernel>(&spec_.reference)) {
      if (!is_one_line(kernel->kernel_name))
        fail("/reference/kernel/kernel_name",
             kernel->kernel_name.empty() ? "\"\"" : kernel->kernel_name,
             "the name of the reference kernel");
      require_names(kernel->launch, "/reference/kernel/launch");
    }
    if (const auto* host_op = std::get_if<ReferenceHostOp>(&spec_.reference)) {
      if (!is_identifier(host_op->op))
        fail("/reference/host_op/op", host_op->op.empty() ? "\"\"" : host_op->op,
             "the name of a host operation");
      bool writes = false;
      for (const auto& [parameter, operand] : host_op->operands) {
        const ArgSpec* arg = spec_.io.find(operand);
        if (!is_one_line(operand))
          fail("/reference/host_op/operands/" + parameter, "\"\"", "an argument or a literal");
        if (arg != nullptr)
          writes = writes || arg->role == ArgRole::output || arg->role == ArgRole::inout;
      }
      if (!writes)
        fail("/reference/host_op/operands", "no output",
             "a parameter that names an output of the kernel");
    }
    if (const auto* command = std::get_if<ReferenceCommand>(&spec_.reference)) {
      if (command->argv.empty())
        fail("/reference/command/argv", "[]", "a program and its arguments");
      for (std::size_t i = 0; i < command->argv.size(); ++i) {
        if (command->argv[i].find('\0') != std::string::npos ||
            (i == 0 && command->argv[0].empty())) {
          fail(at("/reference/command/argv", i),
               command->argv[i].empty() ? "\"\"" : "a NUL character",
               "a program and its arguments");
        }
      }
      if (!(command->timeout_s > 0 && command->timeout_s <= 86400)) {
        fail("/reference/command/timeout_s", std::to_string(command->timeout_s),
             "seconds above 0, at most 86400");
      }
    }
  }

  void check_workload(std::size_t i, std::set<std::string>& seen) const {
    const Workload& workload = spec_.workloads[i];
    const std::string pointer = at("/kernel/workloads", i);
    if (!is_one_line(workload.name))
      fail(pointer + "/name", workload.name.empty() ? "\"\"" : workload.name, "a name on one line");
    if (!seen.insert(workload.name).second)
      fail(pointer + "/name", workload.name, "a name that no other workload has");
    if (!(workload.weight > 0))
      fail(pointer + "/weight", number_text(workload.weight), "a number above 0");
    if (!(workload.min_speedup >= 0))
      fail(pointer + "/min_speedup", number_text(workload.min_speedup), "a number of at least 0");
    check_overrides(workload, pointer);
    check_values_present(workload, pointer);
    const Bindings bindings = spec_.bindings(workload, spec_.default_tunables());
    for (const ArgSpec& arg : spec_.io.args) {
      if (arg.type == ArgType::tensor) check_extents(arg, workload);
    }
    for (const ArgSpec& arg : spec_.io.args) {
      if (arg.type == ArgType::tensor) check_tensor_values(spec_, arg, workload);
    }
    check_launch(spec_.launch_of(workload), bindings,
                 workload.launch ? pointer + "/launch" : "/kernel/io/launch", workload);
    if (const auto* kernel = std::get_if<ReferenceKernel>(&spec_.reference)) {
      check_launch(kernel->launch, bindings, "/reference/kernel/launch", workload);
    }
    check_constraints(bindings, workload);
  }

  void check_overrides(const Workload& workload, const std::string& pointer) const {
    for (const auto& [name, value] : workload.scalars) {
      const ArgSpec* arg = spec_.io.find(name);
      const std::string here = pointer + "/scalars/" + name;
      if (arg == nullptr || arg->type == ArgType::tensor || arg->type == ArgType::string)
        fail(here, name, "the name of a number or bool argument");
      check_scalar(*arg, value, here);
    }
    for (const auto& [name, rule] : workload.init) {
      require_tensor(name, pointer + "/init/" + name);
      require_names(rule, pointer + "/init/" + name);
    }
    for (const auto& [name, tensor] : workload.tensors) {
      const std::string here = pointer + "/tensors/" + name;
      require_tensor(name, here);
      check_tensor(tensor, here);
      require_names(tensor, here);
      const TensorSpec& own = *spec_.io.find(name)->tensor;
      if (tensor.dtype != own.dtype)
        fail(here + "/dtype", info(tensor.dtype).name,
             std::string(info(own.dtype).name) + ", as the argument's own");
      if (tensor.shape.size() != own.shape.size()) {
        fail(here + "/shape", std::to_string(tensor.shape.size()) + " dimensions",
             std::to_string(own.shape.size()) + " dimensions, as the argument's own");
      }
    }
    if (workload.launch) require_names(*workload.launch, pointer + "/launch");
  }

  void check_values_present(const Workload& workload, const std::string& pointer) const {
    for (std::size_t k = 0; k < spec_.io.args.size(); ++k) {
      const ArgSpec& arg = spec_.io.args[k];
      if (arg.type == ArgType::tensor || !std::holds_alternative<std::monostate>(arg.value))
        continue;
      if (workload.scalars.count(arg.name) == 0) {
        fail(at("/kernel/io/args", k), "no value of " + arg.name,
             "a value here or in " + pointer + "/scalars");
      }
    }
  }

  void check_extents(const ArgSpec& arg, const Workload& workload) const {
    const std::string place = spec_.place_of(arg, workload) + "/shape";
    std::int64_t elements = 1;
    for (const std::int64_t extent : spec_.shape_of(arg, workload)) {
      if (extent < 1) throw bad_input(place, std::to_string(extent), "extents of at least 1");
      if (__builtin_mul_overflow(elements, extent, &elements) || elements > kMaxTensorElements) {
        throw bad_input(place, "extent " + std::to_string(extent),
                        "at most " + std::to_string(kMaxTensorElements) + " elements in a tensor");
      }
    }
  }

  void check_launch(const LaunchPlan& plan,
                    const Bindings& bindings,
                    const std::string& pointer,
                    const Workload& workload) const {
    const std::string place = spec_.place(pointer);
    const std::string problem = launch_problem(evaluate(plan, bindings, place));
    if (!problem.empty())
      throw bad_input(place + " (workload " + workload.name + ")", problem,
                      "numbers within CUDA's limits");
  }

  void check_constraints(const Bindings& bindings, const Workload& workload) const {
    for (std::size_t i = 0; i < spec_.constraints.size(); ++i) {
      const std::string pointer = at("/constraints", i);
      if (spec_.constraints[i].evaluate(bindings, spec_.place(pointer)) != 0) continue;
      fail(pointer, spec_.constraints[i].text(),
           "constraints that the defaults satisfy in workload " + workload.name);
    }
    const auto check_work = [&](const Expression& work, const std::string& pointer) {
      const std::int64_t value = work.evaluate(bindings, spec_.place(pointer));
      if (value < 0)
        fail(pointer, std::to_string(value), "work of at least 0 in workload " + workload.name);
    };
    if (spec_.bound.bytes) check_work(*spec_.bound.bytes, "/bound/bytes");
    for (const auto& [type, flops] : spec_.bound.flops) check_work(flops, "/bound/flops/" + type);
  }

  const KernelSpec& spec_;
  std::set<std::string> names_, scalars_, tunables_;
};

}  // namespace

void check_spec(const KernelSpec& spec) {
  SpecChecker(spec).check();
  check_caller(spec);
}

}  // namespace warpath
