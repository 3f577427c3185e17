#include "experiments/ship/python_code.h"

#include <algorithm>

#include "engine/base/format.h"
#include "engine/base/words.h"
#include "experiments/ship/c_arguments.h"
#include "experiments/ship/expression_code.h"
#include "experiments/ship/template_text.h"
#include "experiments/ship_templates.h"
#include "runners/inputs/arguments.h"

namespace warpath {
namespace {

/// Names of Python, and those that the template gives a meaning.
constexpr WordList kTakenInPython(
    "and as assert async await class def del elif except finally from global import in is lambda "
    "nonlocal not or pass raise try with yield None True False name refuses run reason launch "
    "importlib os");
/// Tunables that are options of Triton's compiler.
constexpr WordList kTritonOptions("num_stages maxnreg");

std::string python_name(const ArgSpec& arg) {
  const std::string name = c_name(arg);
  return kTakenInPython.contains(name) ? name + "_" : name;
}

std::string python_names(const KernelSpec& spec) {
  std::string out;
  for (const ArgSpec* const arg : launcher_arguments(spec))
    out += (out.empty() ? "" : ", ") + python_name(*arg);
  return out;
}

/// The functions of one kernel: NAME_refuses and NAME.
class KernelWriter {
 public:
  KernelWriter(const Shipment& shipment, const ShippedKernel& kernel)
      : shipment_(shipment), spec_(shipment.spec()), kernel_(kernel) {}

  std::string text() {
    if (&kernel_ != &shipment_.original()) refusals();
    run();
    return out_;
  }

 private:
  void line(const std::string& text) { out_ += text + "\n"; }
  std::string expression(const Expression& e) const {
    return python_expression(e, [this](const std::string& name) {
      const auto tunable = kernel_.variant.tunables.find(name);
      return tunable != kernel_.variant.tunables.end() ? std::to_string(tunable->second)
                                                       : python_name(*spec_.io.find(name));
    });
  }
  void refuse(const std::string& condition, const std::string& why) {
    line("    if " + condition + ":\n        return " + c_literal(why));
  }
  void head(const std::string& function) {
    line("def _" + kernel_.name + function + "(" + python_names(spec_) + "):");
  }

  void refusals() {
    head("_refuses");
    std::string names, known;
    std::vector<const ArgSpec*> fixed;
    for (const SourceContract::Fixed& one : kernel_.contract.sizes) {
      fixed.push_back(spec_.io.find(one.argument));
      names += (names.empty() ? "" : ", ") + one.argument;
    }
    for (const Workload* const workload : shipment_.workloads()) {
      std::string one;
      for (const ArgSpec* const arg : fixed)
        one +=
            (one.empty() ? "" : " and ") + python_name(*arg) + " == " + constant(*arg, *workload);
      if (known.find("(" + one + ")") == std::string::npos)
        known += (known.empty() ? "(" : " or (") + one + ")";
    }
    if (!fixed.empty())
      refuse("not (" + known + ")", names + ": the kernel is made for other values");
    for (const auto& [name, value] : kernel_.compiled_in)
      refuse(python_name(*spec_.io.find(name)) + " != " + std::to_string(value),
             name + ": the kernel is for another value");
    for (const Expression& constraint : spec_.constraints)
      refuse("not (" + expression(constraint) + ")",
             "a constraint does not hold: " + constraint.text());
    line("    return \"\"\n\n");
  }

  static std::string constant(const ArgSpec& arg, const Workload& workload) {
    const ScalarValue value = *scalar_value(arg, workload);
    if (const auto* const flag = std::get_if<bool>(&value)) return *flag ? "True" : "False";
    if (const auto* const whole = std::get_if<std::int64_t>(&value)) return std::to_string(*whole);
    return "float.fromhex(" + c_literal(format("%a", std::get<double>(value))) + ")";
  }

  void run() {
    head("");
    const LaunchPlan& plan = kernel_.variant.launch;
    std::string grid, passed, constants, options;
    for (const Expression& one : plan.grid) grid += (grid.empty() ? "" : ", ") + expression(one);
    for (const ArgSpec* const arg : launcher_arguments(spec_)) {
      if (!arg->is_meta)
        passed += python_name(*arg) + ", ";
      else if (!arg->is_size)
        constants += c_literal(arg->name) + ": " + python_name(*arg) + ", ";
    }
    for (const auto& [name, value] : kernel_.variant.tunables) {
      const std::string one = c_literal(name) + ": " + std::to_string(value) + ", ";
      kTritonOptions.contains(name) ? options += one : constants += one;
    }
    options += compiler_options();
    for (std::string* const list : {&passed, &constants, &options}) {
      if (list->ends_with(", ")) list->resize(list->size() - 2);
    }
    line("    _launch(" + c_literal(kernel_.name + "_kernel.py") + ", " +
         c_literal(kernel_.variant.kernel_name) + ", (" + grid + "), " + expression(plan.block[0]) +
         ",\n            [" + passed + "], {" + constants + "}, {" + options + "})\n\n");
  }

  /// Those of the assembler, as Triton's compiler takes them.
  [[nodiscard]] std::string compiler_options() const {
    constexpr std::string_view kCap = "--maxrregcount=", kAssembler = "--ptxas-options=";
    std::string cap, assembler;
    for (const std::string& option : kernel_.options) {
      if (option.starts_with(kCap))
        cap = "\"maxnreg\": " + option.substr(kCap.size()) + ", ";
      else if (option.starts_with(kAssembler))
        assembler += (assembler.empty() ? "" : " ") + option.substr(kAssembler.size());
    }
    return cap + (assembler.empty() ? "" : "\"ptx_options\": " + c_literal(assembler) + ", ");
  }

  const Shipment& shipment_;
  const KernelSpec& spec_;
  const ShippedKernel& kernel_;
  std::string out_;
};

/// Element types and density of the tensors.
std::string tensor_checks(const KernelSpec& spec) {
  std::string rows;
  for (const ArgSpec& arg : spec.io.args) {
    if (arg.type != ArgType::tensor) continue;
    const std::string name =
        arg.tensor->dtype == DType::boolean ? "bool" : std::string(info(arg.tensor->dtype).name);
    rows += (rows.empty() ? "(" : ", (") + python_name(arg) + ", " + c_literal(arg.name) + ", " +
            c_literal("torch." + name) + ")";
  }
  return "    for tensor, name, dtype in [" + rows +
         "]:\n        if str(tensor.dtype) != dtype or not tensor.is_contiguous():\n            "
         "raise TypeError(\"%s is no dense tensor of %s\" % (name, dtype))";
}

}  // namespace

std::string python_launcher(const Shipment& shipment) {
  const KernelSpec& spec = shipment.spec();
  const auto workload_values = scalar_values(spec, shipment.primary());
  std::string functions, table, arguments;
  for (const ShippedKernel& kernel : shipment.kernels()) {
    functions += KernelWriter(shipment, kernel).text();
    if (&kernel != &shipment.original())
      table += (table.empty() ? "(" : ", (") + c_literal(kernel.name) + ", _" + kernel.name +
               "_refuses, _" + kernel.name + ")";
  }
  // a constant has the value that was measured, where the ones behind it are constants too
  const auto all = launcher_arguments(spec);
  std::size_t required = all.size();
  while (required > 0 && all[required - 1]->is_meta) --required;
  for (std::size_t i = 0; i < all.size(); ++i) {
    arguments += (i == 0 ? "" : ", ") + python_name(*all[i]);
    if (i < required) continue;
    const ScalarValue& value = workload_values.at(all[i]->name);
    arguments += "=" + std::to_string(std::holds_alternative<bool>(value)
                                          ? std::int64_t{std::get<bool>(value)}
                                          : std::get<std::int64_t>(value));
  }
  return fill_template(
      kPythonTemplate,
      {{"TITLE", shipment.name() + ", exported by Warpath; provenance.json says from where."},
       {"NAME", shipment.name()},
       {"CALL", python_names(spec)},
       {"ARGUMENTS", arguments},
       {"CHECKS", tensor_checks(spec)},
       {"FUNCTIONS", functions},
       {"TABLE", table}});
}

}  // namespace warpath
